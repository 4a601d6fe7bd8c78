for (const place of document.querySelectorAll(".plot")) {
  const spec = JSON.parse(place.querySelector("script").textContent);
  place.textContent = "";
  Plotly.newPlot(place, spec.data, spec.layout, { displayModeBar: false, responsive: true, scrollZoom: false });
}
