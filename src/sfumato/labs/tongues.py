"""Text that was not translated: sentences in the letters of another language."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sfumato.labs.filling import PLACEHOLDER, SPECIAL
from sfumato.labs.prose import Heading, Prose, Text, walk

CYRILLIC, CHINESE = re.compile("[а-яёА-ЯЁ]"), re.compile("[\u4e00-\u9fff]")
VIETNAMESE = re.compile("[ăâđêôơưàáảãạằắẳẵặầấẩẫậèéẻẽẹềếểễệìíỉĩịòóỏõọồốổỗộờớởỡợùúủũụừứửữựỳýỷỹỵ]", re.IGNORECASE)
LATIN_WORD = re.compile(r"\b[A-Za-z]{2,}\b")
# language -> letters without which a sentence is not in it
NEEDED: Mapping[str, re.Pattern[str]] = {"ru": CYRILLIC, "vi": VIETNAMESE, "zh": CHINESE}
FOREIGN: Mapping[str, tuple[re.Pattern[str], ...]] = {
    "en": (CYRILLIC, CHINESE),
    "ru": (CHINESE,),
    "vi": (CYRILLIC, CHINESE),
    "zh": (CYRILLIC,),
}
ENOUGH = 4  # Latin words in a row of text before it counts as a sentence: names and titles stay as they are


def untranslated(prose: Prose) -> Iterator[str]:
    """Paragraphs, headings and words of the front matter that stand in another language."""
    for part in walk(prose.parts):
        if isinstance(part, Text):
            plain = _plain(part.markdown)
            yield from _foreign(prose.lang, [piece for piece in re.split(r"\n\s*\n", plain) if piece.strip()])
        elif isinstance(part, Heading):
            yield from _foreign(prose.lang, [_plain(part.title)])
    yield from _foreign(prose.lang, [_plain(words) for words in _texts(prose.front)])


def foreign(lang: str, words: str) -> bool:
    """Whether a text is in another language than it should be."""
    if any(letters.search(words) for letters in FOREIGN[lang]):
        return True
    needed = NEEDED.get(lang)
    return needed is not None and len(LATIN_WORD.findall(words)) >= ENOUGH and not needed.search(words)


def _foreign(lang: str, pieces: list[str]) -> Iterator[str]:
    yield from (f'not translated: "{" ".join(piece.split())[:60]}"' for piece in pieces if foreign(lang, piece))


def _plain(markdown: str) -> str:
    """Without code, formulas, placeholders and labels; words inside of formulas stay."""
    without = SPECIAL.sub(lambda match: " ".join(re.findall(r"\\text\{([^{}]*)\}", match[0])), markdown)
    return re.sub(r"\{#[\w:-]+\}|@\w+:[\w-]+", "", PLACEHOLDER.sub("", without))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
