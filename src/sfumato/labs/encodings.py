"""Texts in an encoding that nobody named: UTF-8 if they are, else a guess that must make words of some language."""

import codecs
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# What separates words beside ASCII: quotation marks, dashes, ellipsis, number sign, a middle dot, a space.
_BETWEEN = re.compile(r"[\x00-\x40\x5b-\x60\x7b-\x7f\u00a0«»“”„‘’–—…№·]+")


@dataclass(frozen=True, slots=True)
class _Old:
    """An encoding from before UTF-8, and what a word with letters beyond ASCII looks like in its languages."""

    encoding: str
    name: str
    word: re.Pattern[str]


_CYRILLIC = _Old("cp1251", "windows-1251", re.compile("[А-ЯЁ]?[а-яё]+|[А-ЯЁ]+"))
# language -> what its lists were saved in; every letter of a word is then one of the language.
_USUAL: Mapping[str, _Old] = {
    "en": _Old(
        "cp1252",
        "windows-1252",
        re.compile("(?=.*[A-Za-z])(?:[A-ZÀ-ÖØ-ÞŠŽŒ]?[a-zß-öø-ÿšžœ]+|[A-ZÀ-ÖØ-ÞŠŽŒ]+)|[À-ÖØ-ÞŠŽŒ]"),
    ),
    "ru": _Old("cp1251", "windows-1251", re.compile("[Ѐ-ӿ]+")),
    "vi": _Old("cp1258", "windows-1258", re.compile("[A-Za-zÀ-ÃÈ-ÊÌÍÒ-ÕÙÚÝà-ãè-êìíò-õùúýĂăĐđĨĩŨũƠơƯưẠ-ỹ]+")),
    "zh": _Old(
        "gb18030", "GB18030", re.compile("[A-Za-z\u3000-\u303f\u3400-\u9fff\uff00-\uffef\U00020000-\U0003ffff]+")
    ),
}


def decoded(raw: bytes, lang: str) -> tuple[str, str] | None:
    """The text, and the name of its encoding where that is a guess; None if no guess makes words of a language.

    Words all of whose letters are Cyrillic, with capitals in front only, are Russian whatever `lang` says: by chance
    no list of names in another encoding looks so.
    """
    marked = next((encoding for mark, encoding in _MARKS.items() if raw.startswith(mark)), None)
    try:
        return raw.decode(marked or "utf-8"), ""
    except UnicodeDecodeError:
        if marked:
            return None
    for old in (_CYRILLIC, _USUAL[lang]):
        try:
            text = unicodedata.normalize("NFC", raw.decode(old.encoding))
        except UnicodeDecodeError:
            continue
        if all(word.isascii() or old.word.fullmatch(word) for word in _BETWEEN.split(text)):
            return text, old.name
    return None
