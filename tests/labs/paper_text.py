"""The words of a PDF as a reader finds them, page by page: enough of the format for those that typst writes."""

import re
import zlib
from collections.abc import Iterator, Mapping

_OBJECT = re.compile(rb"(\d+) 0 obj\b(.*?)\bendobj", re.DOTALL)
_STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)
# What a page's program does with texts: /F1 12 Tf chooses a font; <0102> Tj and [<01> -20 <02>] TJ show glyphs.
_STEP = re.compile(rb"/(\S+)\s+[-\d.]+\s+Tf|(\((?:\\.|[^\\)])*\)|<[0-9A-Fa-f\s]*>)", re.DOTALL)
_ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}

Objects = Mapping[int, bytes]
Letters = Mapping[int, str]


def pages_of(pdf: bytes) -> list[str]:
    """The text of each page, without spaces: a PDF says where a letter stands, and no more."""
    objects = {int(number): body for number, body in _OBJECT.findall(pdf)}
    fonts: dict[int, Letters] = {}
    return [_squeezed(_texts(objects, page, fonts)) for page in _in_order(objects)]


def _squeezed(pieces: Iterator[str]) -> str:
    return re.sub(r"\s", "", "".join(pieces))


def _in_order(objects: Objects) -> Iterator[int]:
    """Pages by the tree of pages."""
    [root] = [number for number, body in objects.items() if re.search(rb"/Type\s*/Catalog\b", body)]
    waiting = [_reference(objects[root], b"Pages")]
    while waiting:
        number = waiting.pop(0)
        if re.search(rb"/Type\s*/Pages\b", objects[number]):
            [kids] = re.findall(rb"/Kids\s*\[(.*?)\]", objects[number], re.DOTALL)
            waiting = [*map(int, re.findall(rb"(\d+) 0 R", kids)), *waiting]
        else:
            yield number


def _reference(body: bytes, name: bytes) -> int:
    return int(re.findall(rb"/" + name + rb"\s+(\d+) 0 R", body)[0])


def _dictionary(objects: Objects, body: bytes, name: bytes) -> bytes:
    """The value of a key that is a dictionary, in its place or elsewhere."""
    found = re.search(rb"/" + name + rb"\s+(\d+) 0 R", body)
    if found:
        return objects[int(found[1])]
    place = re.search(rb"/" + name + rb"\s*<<", body)
    return b"" if place is None else _balanced(body[place.end() :])


def _balanced(rest: bytes) -> bytes:
    depth = 1
    for mark in re.finditer(rb"<<|>>", rest):
        depth += 1 if mark[0] == b"<<" else -1
        if not depth:
            return rest[: mark.start()]
    return rest


def _stream(body: bytes) -> bytes:
    [content] = _STREAM.findall(body)
    return zlib.decompress(content) if b"/FlateDecode" in body else content


def _texts(objects: Objects, page: int, fonts: dict[int, Letters]) -> Iterator[str]:
    body = objects[page]
    known = dict(
        re.findall(rb"/(\S+)\s+(\d+) 0 R", _dictionary(objects, _dictionary(objects, body, b"Resources"), b"Font"))
    )
    letters: Letters = {}
    for name, shown in _STEP.findall(_stream(objects[_reference(body, b"Contents")])):
        if name:
            font = int(known[name])
            letters = fonts.setdefault(font, _letters(objects, font))
        else:
            codes = _bytes(shown)
            yield "".join(letters.get(int.from_bytes(codes[at : at + 2], "big"), "") for at in range(0, len(codes), 2))


def _bytes(shown: bytes) -> bytes:
    if shown.startswith(b"<"):
        return bytes.fromhex(shown[1:-1].decode("ascii"))
    return re.sub(rb"\\([0-7]{1,3}|.)", _unescaped, shown[1:-1], flags=re.DOTALL)


def _unescaped(found: re.Match[bytes]) -> bytes:
    code = found[1]
    return bytes([int(code, 8)]) if code.isdigit() else _ESCAPES.get(code, code)


def _letters(objects: Objects, font: int) -> Letters:
    """What each glyph of a font stands for."""
    table = _stream(objects[_reference(objects[font], b"ToUnicode")])
    found: dict[int, str] = {}
    for block in re.findall(rb"beginbfchar(.*?)endbfchar", table, re.DOTALL):
        for glyph, text in re.findall(rb"<([0-9A-Fa-f]+)>\s*<([0-9A-Fa-f]+)>", block):
            found[int(glyph, 16)] = bytes.fromhex(text.decode("ascii")).decode("utf-16-be")
    for block in re.findall(rb"beginbfrange(.*?)endbfrange", table, re.DOTALL):
        for first, last, text in re.findall(rb"<([0-9A-Fa-f]+)>\s*<([0-9A-Fa-f]+)>\s*<([0-9A-Fa-f]+)>", block):
            start = int(text, 16)
            found |= {glyph: chr(start + glyph - int(first, 16)) for glyph in range(int(first, 16), int(last, 16) + 1)}
    return found
