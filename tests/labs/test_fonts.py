"""Every sign of every source is in the fonts that print it, and those that ship are small and free."""

import functools
import io
import re
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from sfumato.labs.build.edition import Edition
from sfumato.labs.build.executing import NOTHING
from sfumato.labs.build.paper import FONTS, as_pdf
from sfumato.labs.languages import LANGUAGES
from sfumato.labs.source import load
from tests.labs.subset_fonts import WEIGHTS, chinese, letters

pytestmark = pytest.mark.labs
BODY = ("Libertinus Serif Regular", "Libertinus Serif Bold", "Libertinus Serif Italic")


@functools.cache
def compiled_in() -> dict[str, frozenset[int]]:
    """Which signs the fonts within typst have: they are found in its library by their table of contents."""
    import typst

    [library] = (path for path in Path(typst.__file__).parent.iterdir() if path.suffix in (".so", ".pyd"))
    return dict(_fonts(library.read_bytes()))


def _fonts(data: bytes) -> Iterator[tuple[str, frozenset[int]]]:
    from fontTools.ttLib import TTFont, TTLibError

    for match in re.finditer(rb"OTTO\x00|\x00\x01\x00\x00\x00", data):
        start = match.start()
        count = struct.unpack(">H", data[start + 4 : start + 6])[0]
        if not 8 <= count <= 40:
            continue
        tables = [struct.unpack(">4sLLL", data[at : at + 16]) for at in range(start + 12, start + 12 + 16 * count, 16)]
        if not all(re.fullmatch(rb"[\w/ ]{4}", tag) for tag, *_ in tables):
            continue
        try:
            font = TTFont(io.BytesIO(data[start : start + max(place + size for _, _, place, size in tables)]))
            yield font["name"].getDebugName(4), frozenset(font.getBestCmap())
        except (TTLibError, KeyError):
            continue


@functools.cache
def shipped(name: str) -> frozenset[int]:
    from fontTools.ttLib import TTFont

    return frozenset(TTFont(FONTS / name).getBestCmap())


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_sign_of_every_source_is_in_the_fonts(lang: str) -> None:
    wanted = letters(lang)
    assert len(wanted) > 100
    for weight in WEIGHTS:
        code = shipped(f"NotoSansMono-{weight}.ttf") if lang == "vi" else compiled_in()["DejaVu Sans Mono"]
        for have in (*(compiled_in()[name] for name in BODY), code):
            both = have | shipped(f"NotoSerifSC-{weight}.otf")
            assert sorted(sign for sign in wanted if ord(sign) not in both) == [], weight


def test_a_sign_that_is_missing_would_be_noticed() -> None:
    assert ord("龘") not in shipped("NotoSerifSC-Regular.otf") | compiled_in()[BODY[0]]
    assert "差" in chinese()


def test_the_fonts_are_small_and_their_licence_is_beside_them() -> None:
    assert sum(path.stat().st_size for path in FONTS.iterdir()) < 2 << 20
    licence = (FONTS / "OFL.txt").read_text(encoding="utf-8")
    assert "SIL OPEN FONT LICENSE Version 1.1" in licence
    assert "Adobe" in licence


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_pdf_is_tagged_names_its_language_and_has_only_our_fonts(lang: str) -> None:
    lab = load(0)
    pdf = as_pdf(Edition(lab, lab.variant(1), lang, teacher=True), NOTHING)
    assert b"/StructTreeRoot" in pdf
    assert f"/Lang ({lang}".encode() in pdf or f"/Lang({lang}".encode() in pdf
    assert b"/ToUnicode" in pdf, "its words can be searched"
    fonts = {name.partition(b"+")[2] for name in re.findall(rb"/BaseFont\s*/([\w+.-]+)", pdf)}
    ours = (b"Libertinus", b"NewCM", b"NewComputerModern", b"DejaVuSansMono", b"NotoSerifCJKsc", b"NotoSansMono")
    assert all(name.startswith(ours) for name in fonts), fonts
    assert (lang == "zh") == any(name.startswith(b"NotoSerif") for name in fonts)
