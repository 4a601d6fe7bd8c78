"""Pictures: Plotly for self-contained pages, Matplotlib for PNG and SVG."""
