"""A report in one file: text, tables and plots that work without a network.

Every text is escaped, so that a name can hold a script without running it, and signs nobody sees without turning round
what stands beside it. A content security policy says the same to the browser a second time: nothing is fetched from
anywhere, and no script runs but the two that are written here.
"""

import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape as html_escape
from importlib.resources import files
from pathlib import Path
from typing import Any, assert_never

from sfumato.errors import UsageError
from sfumato.plots.static import svg
from sfumato.plots.style import plotly
from sfumato.visible import visible, visible_lines

Cell = str | int | float
SVG = "data:image/svg+xml;base64,"
CODE = ' class="code"'
WIDE, NARROW = 736, 360  # pixels: of the column of text, of a telephone's
# A text that is a number for its sign or unit, or two of them, or none; plain digits may be a zip code.
_NUMERIC = re.compile(r"[-−+±]?(\$[\d,.]+|\d[\d,]*\.\d+|[\d,.]+ ?%)|-?[\d,.]+ to -?[\d,.]+|[≥≤] -?[\d,.]+|–")


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under their columns. stacked: on a telephone a row is a list of cells, each beside its column."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    stacked: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """A Plotly figure, the one sentence to take away from it, and its numbers for whoever wants to read them."""

    plot: Any
    takeaway: str
    numbers: Table | None = None


@dataclass(frozen=True, slots=True)
class Code:
    """Text in its own lines: a policy, a question."""

    text: str


@dataclass(frozen=True, slots=True)
class Facts:
    """A few numbers set large: what each says, and the number."""

    facts: Mapping[str, str]


Block = str | Table | Figure | Code | Facts


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands under it; a plain text is a paragraph."""

    title: str
    blocks: Sequence[Block]


def escaped(text: str) -> str:
    """A text that can neither become markup nor hide or move what stands around it."""
    return html_escape(visible(text))


def page(
    title: str,
    sections: Sequence[Section],
    *,
    lead: Sequence[Block] = (),
    footer: str = "",
    code_title: bool = False,
    static: bool = False,
) -> str:
    """One HTML document. It needs Plotly only if there is a figure, and then holds plotly.js once.

    `code_title`: its title is a question, in the language of questions. `static`: with pictures in place of plots that
    can be pointed at; then it runs no script, and is a hundredth as long.
    """
    opening = "".join(_block(block, static) for block in lead)
    body = "".join(_section(number, section, static) for number, section in enumerate(sections, start=1))
    contents = "".join(
        f'<li><a href="#section-{number}">{escaped(section.title)}</a></li>'
        for number, section in enumerate(sections, start=1)
    )
    blocks = [*lead, *(block for section in sections for block in section.blocks)]
    drawn = not static and any(isinstance(block, Figure) for block in blocks)
    scripts = [plotly("offline").get_plotlyjs(), asset("page.js")] if drawn else []
    parts = [
        f"<h1{CODE if code_title else ''}>{escaped(title)}</h1>\n{opening}",
        f'<nav aria-label="Contents"><ol>{contents}</ol></nav>\n' if sections else "",
        body,
        f"<footer>{escaped(footer)}</footer>\n" if footer else "",
    ]
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{_head(title, scripts)}</head>\n<body>\n'
        f"<main>\n{''.join(parts)}</main>\n"
        f"{''.join(f'<script>{text}</script>' for text in scripts)}\n</body>\n</html>\n"
    )


def write_page(path: Path, text: str) -> None:
    """Save a page, or say that it cannot be."""
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.", "Choose another file.") from None


def _head(title: str, scripts: Sequence[str]) -> str:
    allowed = " ".join(f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in scripts) or "'none'"
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; "
        f"script-src {allowed}; base-uri 'none'; form-action 'none'"
    )
    return (
        '<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(title)}</title>\n<style>\n{asset('page.css')}</style>\n"
    )


def _section(number: int, section: Section, static: bool) -> str:
    blocks = "".join(_block(block, static) for block in section.blocks)
    return f'<section id="section-{number}">\n<h2>{escaped(section.title)}</h2>\n{blocks}</section>\n'


def _block(block: Block, static: bool) -> str:
    match block:
        case str():
            return f"<p>{escaped(block)}</p>\n"
        case Table():
            return table(block)
        case Code(text=text):
            return f"<pre><code>{html_escape(visible_lines(text))}</code></pre>\n"
        case Facts(facts=facts):
            entries = "".join(
                f"<div><dt>{escaped(what)}</dt><dd>{escaped(fact)}</dd></div>" for what, fact in facts.items()
            )
            return f'<dl class="facts">{entries}</dl>\n'
        case Figure():
            return _figure(block, static)
        case _:
            assert_never(block)


def _figure(block: Figure, static: bool) -> str:
    numbers = f"<details><summary>The numbers</summary>{table(block.numbers)}</details>" if block.numbers else ""
    plot = _picture(block) if static else _plot(block)
    return f"<figure>\n<figcaption>{escaped(block.takeaway)}</figcaption>\n{plot}{numbers}</figure>\n"


def _plot(block: Figure) -> str:
    content = json.loads(block.plot.to_json())
    # A data block ends at the first "</script", wherever it stands; without "<" there is none.
    data = json.dumps(content, separators=(",", ":")).replace("<", "\\u003c").replace(">", "\\u003e")
    height = int(content.get("layout", {}).get("height") or 360)
    return (
        f'<div class="plot" style="min-height:{height}px">'
        f'<script type="application/json">{data}</script>'
        "<noscript>The plot needs JavaScript; the numbers below do not.</noscript></div>\n"
    )


def _picture(block: Figure) -> str:
    """Drawn for a page and for a telephone, where the same picture would have letters that nobody can read."""
    wide, narrow = (b64encode(svg(block.plot, width)).decode() for width in (WIDE, NARROW))
    return (
        f'<picture><source media="(max-width: 34rem)" srcset="{SVG}{narrow}">'
        f'<img alt="{escaped(block.takeaway)}" src="{SVG}{wide}"></picture>\n'
    )


def table(content: Table) -> str:
    """The HTML of one table, every cell escaped."""
    caption = f"<caption>{escaped(content.caption)}</caption>" if content.caption else ""
    numeric = [
        bool(content.rows) and all(_is_number(row[place]) for row in content.rows)
        for place in range(len(content.columns))
    ]
    head = "".join(_cell("th", name, right) for name, right in zip(content.columns, numeric, strict=True))
    labels = content.columns if content.stacked else [""] * len(content.columns)
    rows = "".join(
        "<tr>"
        + "".join(
            _cell("td", _shown(cell), right, label) for cell, right, label in zip(row, numeric, labels, strict=True)
        )
        + "</tr>"
        for row in content.rows
    )
    kind = "table stacked" if content.stacked else "table"
    return f'<div class="{kind}"><table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>\n'


def _is_number(cell: Cell) -> bool:
    return not isinstance(cell, str) or _NUMERIC.fullmatch(cell) is not None


def _cell(tag: str, text: str, right: bool, label: str = "") -> str:
    kind = ' class="number"' if right else ""
    named = f' data-label="{escaped(label)}"' if label else ""
    return f"<{tag}{kind}{named}>{escaped(text)}</{tag}>"


def _shown(cell: Cell) -> str:
    if isinstance(cell, str):
        return cell
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:,.2f}"


def asset(name: str) -> str:
    """A file that stands beside this one."""
    return files("sfumato.plots").joinpath(name).read_text(encoding="utf-8")
