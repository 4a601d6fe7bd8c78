"""The languages of the course: one list, from which everything else follows."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sfumato.labs.wordings import unknown_language


@dataclass(frozen=True, slots=True)
class Language:
    """How a language writes numbers and lists, and what other programs call it."""

    code: str
    name: str
    decimal: str  # the decimal mark
    group: str  # what stands between thousands
    tag: str  # for pandoc, Word and browsers
    comma: str = ", "  # between the words of a list
    semicolon: str = "; "  # between its clauses

    @property
    def between_numbers(self) -> str:
        """What stands between numbers of a list; a comma would be taken for the decimal mark."""
        return self.semicolon if self.decimal == "," else self.comma


LANGUAGES: Mapping[str, Language] = MappingProxyType(
    {
        language.code: language
        for language in (
            Language("en", "English", ".", ",", "en-GB"),
            Language("ru", "Русский", ",", "\u00a0", "ru-RU"),
            Language("vi", "Tiếng Việt", ",", ".", "vi-VN"),
            Language("zh", "中文", ".", ",", "zh-CN", "、", "；"),
        )
    }
)
# Every lab has these.
COMPLETE = tuple(LANGUAGES)


def language(code: str) -> Language:
    if code not in LANGUAGES:
        raise unknown_language(code, LANGUAGES)
    return LANGUAGES[code]
