"""The languages of the course: one list, from which everything else follows."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sfumato.labs.wordings import unknown_language


@dataclass(frozen=True, slots=True)
class Language:
    """How a language writes numbers, and what other programs call it."""

    code: str
    name: str
    decimal: str  # the decimal mark
    group: str  # what stands between thousands
    tag: str  # for pandoc, Word and browsers


LANGUAGES: Mapping[str, Language] = MappingProxyType(
    {
        language.code: language
        for language in (
            Language("en", "English", ".", ",", "en-GB"),
            Language("ru", "Русский", ",", "\u00a0", "ru-RU"),
            Language("vi", "Tiếng Việt", ",", ".", "vi-VN"),
            Language("zh", "中文", ".", ",", "zh-CN"),
        )
    }
)
# Every lab has these; a lab may have any other of the list, and then it is held to the same.
COMPLETE = ("en", "ru")


def language(code: str) -> Language:
    if code not in LANGUAGES:
        raise unknown_language(code, LANGUAGES)
    return LANGUAGES[code]
