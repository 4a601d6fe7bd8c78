"""A page as a browser takes it apart: its tags, their attributes, and the text in between."""

from dataclasses import dataclass
from html.parser import HTMLParser

VOID = {"meta", "br", "img", "input", "link", "source"}
PICTURE = "data:image/svg+xml;base64,"


@dataclass
class Element:
    tag: str
    attributes: dict[str, str | None]
    text: str = ""


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self._open: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs))
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self._open[-1].tag == tag, f"</{tag}> closes <{self._open[-1].tag}>"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open:
            self._open[-1].text += data

    def all(self, tag: str) -> list[Element]:
        return [element for element in self.elements if element.tag == tag]


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert not reader._open, f"never closed: {[element.tag for element in reader._open]}"
    return reader


def runs_nothing_foreign(reader: Reader) -> None:
    """No tag but ours, no attribute that runs or fetches anything."""
    known = "html head meta title style body main h1 h2 p nav ol li a section figure figcaption div dl dt dd script"
    known += " picture source img noscript details summary table caption thead tbody tr th td pre code footer"
    assert {element.tag for element in reader.elements} <= set(known.split())
    for element in reader.elements:
        allowed = {
            "a": {"href"},
            "img": {"alt", "src"},
            "meta": {"charset", "name", "content", "http-equiv"},
            "script": {"type"},
            "source": {"media", "srcset"},
        }
        common = {"class", "id", "lang", "style", "aria-label"}
        assert set(element.attributes) <= allowed.get(element.tag, set()) | common, element
        assert (element.attributes.get("href") or "#").startswith("#")
        assert all((element.attributes.get(name) or PICTURE).startswith(PICTURE) for name in ("src", "srcset"))
    for style in reader.all("style"):
        assert "url(" not in style.text
        assert "@import" not in style.text


def fetches_nothing(reader: Reader) -> None:
    """No address of another machine anywhere but inside the code of plotly.js."""
    for element in reader.elements:
        if element.tag == "script" and element.text.lstrip().startswith("/**\n* plotly.js"):
            continue
        for text in [element.text, *(value or "" for value in element.attributes.values())]:
            assert "http:" not in text, element.tag
            assert "https:" not in text, element.tag
            assert "src=" not in text, element.tag
