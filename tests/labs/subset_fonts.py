"""Makes the fonts that ship with the course: what typst lacks, with the letters of our sources and no others.

Noto Serif SC for Chinese; Noto Sans Mono for code in Vietnamese, of which the typewriter font in typst has half.
Run it when a text has a letter that they lack, on Debian with fonts-noto-cjk and fonts-noto-mono: make fonts
"""

import re
from pathlib import Path
from typing import Any

from sfumato import datasets
from sfumato.labs.build.paper import FONTS
from sfumato.labs.languages import LANGUAGES
from sfumato.labs.words import CONTENT

ROOT = Path(__file__).parents[2]
NOTO = Path("/usr/share/fonts")
DEBIAN = Path("/usr/share/doc/fonts-noto-cjk/copyright")
FACE = 2  # of the collection: simplified Chinese
WEIGHTS = ("Regular", "Bold")
# Marks of Chinese text, whether a source has them today or not, and those that Latin and Chinese share.
MARKS = "　，。、；：？！（）《》〈〉「」【】“”‘’—…·–％～‰"


def sources() -> list[Path]:
    """Every file whose words are printed: texts and cells of labs (also of tests), shared words, names of people."""
    folders = (CONTENT, ROOT / "tests" / "labs" / "sample", ROOT / "tests" / "labs" / "course")
    kinds = ("*.md", "*.toml", "*/*.md", "*/cells.py")
    files = [path for folder in folders for kind in kinds for path in folder.glob(kind)]
    return sorted([*files, *Path(datasets.__file__).parent.glob("names*.py")])


def letters(lang: str) -> set[str]:
    """Every sign that a document of this language may show."""
    others = set(LANGUAGES) - {lang}
    found: set[str] = set()
    for path in sources():
        stem = re.split(r"[._]", path.stem)
        if not others & set(stem) and (path.stem != "names" or lang == "en"):
            found |= set(_of(path, lang))
    return {sign for sign in found if sign.isprintable()}


def _of(path: Path, lang: str) -> str:
    """Of a file with a column for each language (the glossary) only the right one."""
    text = path.read_text(encoding="utf-8")
    if path.name == "glossary.toml":
        return "".join(re.findall(rf'^{lang} = "(.*)"$', text, re.MULTILINE))
    return text


def chinese() -> set[str]:
    """Letters that only the Chinese font has, and its marks."""
    return {sign for sign in letters("zh") if ord(sign) >= 0x2E80} | set(MARKS)


def vietnamese() -> set[str]:
    """All signs of Vietnamese texts and of code."""
    return {sign for sign in letters("vi") if ord(sign) < 0x2E80} | set(map(chr, range(0x20, 0x7F)))


def main() -> None:
    from fontTools.ttLib import TTCollection, TTFont

    said = set()
    for weight in WEIGHTS:
        serif = TTCollection(NOTO / "opentype" / "noto" / f"NotoSerifCJK-{weight}.ttc").fonts[FACE]
        mono = TTFont(NOTO / "truetype" / "noto" / f"NotoSansMono-{weight}.ttf")
        for font, signs, name in ((serif, chinese(), "NotoSerifSC"), (mono, vietnamese(), "NotoSansMono")):
            said.add(font["name"].getDebugName(0))
            path = FONTS / f"{name}-{weight}{'.otf' if 'CFF ' in font else '.ttf'}"
            _cut(font, signs, path)
            print(f"{path.name}: {len(signs)} signs, {path.stat().st_size >> 10} KB, {font['name'].getDebugName(1)}")
    _licence(said)


def _cut(font: Any, signs: set[str], path: Path) -> None:
    from fontTools.subset import Options, Subsetter

    options = Options()
    options.layout_features = ["kern", "mark", "mkmk", "ccmp", "palt", "halt", "chws"]
    options.name_IDs = [0, 1, 2, 3, 4, 6, 13, 14]
    options.hinting = options.glyph_names = False
    options.drop_tables += ["vhea", "vmtx", "VORG", "BASE"]
    subsetter = Subsetter(options)
    subsetter.populate(text="".join(sorted(signs)))
    subsetter.subset(font)
    font["head"].modified = font["head"].created  # the same bytes at any time of day
    font.recalcTimestamp = False
    font.save(path)


def _licence(said: set[str]) -> None:
    text = DEBIAN.read_text(encoding="utf-8")
    inside = text[text.index("License: SIL-1.1\n ---") :].partition("\n\nLicense:")[0].split("\n")[1:]
    lines = ["" if line.strip() == "." else line.removeprefix(" ") for line in inside]
    about = "Subsets of Noto Serif CJK SC and Noto Sans Mono, made by tests/labs/subset_fonts.py."
    (FONTS / "OFL.txt").write_text("\n".join([*sorted(said), about, "", *lines]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
