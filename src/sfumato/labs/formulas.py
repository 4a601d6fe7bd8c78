"""Formulas of a text, in a form that languages share; and what Word and LibreOffice would not draw alike."""

import re
from collections.abc import Iterator

from sfumato.labs.filling import SPECIAL

# what is looked for -> what to write instead
REFUSED: tuple[tuple[str, str], ...] = (
    (r"\\begin\{(aligned|align\*?|array|split|gather\*?)\}", "one displayed line for each relation"),
    (r"\\[lr]vert\b", r"\left| … \right|"),
    (r"\\(under|over)brace\b", "words beside the formula"),
    (r"\\bar\b", r"\overline"),
    (r"'|\\prime\b", r"an index, e.g. \delta_0"),
    (r"\\tag\b", "{#eq:name} after the formula"),
    (r"(?<!\\right)[)\]][\^_]", r"\left( … \right)"),  # LibreOffice takes the bracket alone for what is raised
)
WORDS = re.compile(r"\\(?:text|mathrm|operatorname)\{[^{}]*\}")
BARE_BAR = re.compile(r"(?<!\\left)(?<!\\right)(?<!\\mid)(?<!\\)\|")
SIZED_NORM = re.compile(r"\\(?:left|right)\\[lr]Vert")


def formulas(markdown: str) -> Iterator[tuple[str, bool]]:
    """LaTeX of each formula, and whether it is displayed; code is left out."""
    for match in SPECIAL.finditer(markdown):
        if match["formula"]:
            displayed = match[0].startswith("$$")
            yield match[0].strip("$").strip(), displayed


def shared_form(formula: str) -> str:
    """A formula without its words, decimal commas and spaces: the same in every language."""
    without = WORDS.sub(r"\\text{}", formula).replace("{,}", ".")
    return re.sub(r"(\\[,;:! ]|\s)+", "", without)


def complaints(formula: str) -> Iterator[str]:
    """What of it Word and LibreOffice draw differently, and what to write instead."""
    shown = re.sub(r"\s+", " ", formula)
    for pattern, instead in REFUSED:
        if re.search(pattern, WORDS.sub("", formula)):
            yield f"${shown}$: write {instead}"
    if BARE_BAR.search(WORDS.sub("", formula)):
        yield rf"${shown}$: write \left| … \right| or \mid"
    if r"\Vert" in SIZED_NORM.sub("", formula) or re.search(r"\\[lr]Vert", SIZED_NORM.sub("", formula)):
        yield rf"${shown}$: write \left\lVert … \right\rVert"


def stray_dollar(markdown: str) -> str:
    """What stands around the first $ that is neither escaped nor part of a formula or of code; else nothing."""
    without = SPECIAL.sub(lambda match: "·" * len(match[0]), markdown)
    found = re.search(r"(?<!\\)\$", without)
    return " ".join(markdown[max(found.start() - 20, 0) : found.start() + 30].split()) if found else ""


SYNONYMS = {
    **{"lbrack": "[", "rbrack": "]", "ast": "*", "le": r"\leq", "ge": r"\geq", "left": "", "right": ""},
    **{"lVert": r"\Vert", "rVert": r"\Vert", "parallel": r"\Vert", "dots": r"\ldots", "to": r"\rightarrow"},
}
ACCENTED = re.compile(r"\{(\\(?:widehat|widetilde|overline|hat|tilde)(?:\\[A-Za-z]+|[^\\{}]))\}(?=[_^])")


def spelling(latex: str) -> str:
    """LaTeX without spaces, and one spelling of what has several: pandoc reads a formula of Word back in its own."""
    latex = re.sub(
        r"\\([A-Za-z]+)", lambda match: SYNONYMS.get(match[1], match[0]), re.sub(r"\\(left|right)\.", "", latex)
    )
    latex = latex.replace("{,}", ",")
    plain = re.sub(r"\s+", "", re.sub(r"[\^_]\{\}|\\,", "", latex))
    return ACCENTED.sub(r"\1", re.sub(r"\{(\\[A-Za-z]+|[^\\{}])\}", r"\1", plain))
