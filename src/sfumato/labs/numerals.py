"""Numbers that somebody typed into a text, read as its language writes them."""

import re
from collections.abc import Iterator

from sfumato.labs.filling import PLACEHOLDER, SPECIAL
from sfumato.labs.languages import Language, language

# Names of files, labels and attributes hold digits that count nothing.
LABEL = re.compile(r"\{#[\w:-]+\}|@\w+:[\w-]+|\b[A-Za-z_]+\w*\d\w*")
SUBSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
SPELT_OUT = 12  # up to here a good sentence may say "two", and a month has a name


def numerals(markdown: str, code: str) -> set[str]:
    """Numbers of a text in one form for all languages; formulas are compared elsewhere.

    Whole numbers up to twelve are left out: one language writes "two" where another writes 2.
    """
    found = set(_typed(PLACEHOLDER.sub(" ", markdown), language(code)))
    return {number for number in found if not (number.isdigit() and int(number) <= SPELT_OUT)}


def _typed(markdown: str, spoken: Language) -> Iterator[str]:
    """Code is written alike in all languages, words are not."""
    end = 0
    for match in SPECIAL.finditer(markdown):
        yield from _read(markdown[end : match.start()], spoken)
        if match["verbatim"]:
            yield from _read(match[0], language("en"))
        end = match.end()
    yield from _read(markdown[end:], spoken)


def _read(words: str, spoken: Language) -> Iterator[str]:
    group, decimal = re.escape(spoken.group), re.escape(spoken.decimal)
    whole = rf"\d{{1,3}}(?:{group}\d{{3}})+(?!\d)|\d+"
    for match in re.finditer(rf"(?:{whole})(?:{decimal}\d+)?", LABEL.sub(" ", words.translate(SUBSCRIPT))):
        plain = match[0].replace(spoken.group, "").replace(spoken.decimal, ".")
        yield plain.rstrip("0").rstrip(".") if "." in plain else plain
