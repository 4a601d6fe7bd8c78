"""A piece of HTML for a notebook, in the style of the pages: for its own tags alone, light or dark as those are."""

from html import escape

from sfumato.plots.page import asset
from sfumato.visible import visible_lines


def fragment(content: str) -> str:
    """Needs: content whose texts are escaped."""
    return f'<div class="sfumato"><style>\n{asset("fragment.css")}</style>{content}</div>'


def text_fragment(text: str) -> str:
    """A text in its own lines, as a fragment."""
    return fragment(f"<pre>{escape(visible_lines(text))}</pre>")
