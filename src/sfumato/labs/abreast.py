"""Which pieces of a text changed in some languages and not in the others since all were last abreast.

abreast.toml beside the texts holds a short hash of every piece in every language. Whoever changes one language mends
the others, and then writes the file anew: `sfumato labs abreast --record`.
"""

import hashlib
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from sfumato.labs.languages import LANGUAGES
from sfumato.labs.prose import Block, Heading, Part, Place, Prose, Text
from sfumato.labs.sections import leaves, sections
from sfumato.labs.source import Lab
from sfumato.labs.words import CONTENT, strings

FILE = "abreast.toml"
HEAD = "# Hashes of texts when all languages were abreast. Written by: sfumato labs abreast --record\n"
# piece -> language -> hash
Hashes = Mapping[str, Mapping[str, str]]


def of_lab(lab: Lab) -> Hashes:
    """Hashes of the front matter by key, of sections, and of exercises and questions."""
    return _turned({code: dict(_pieces(prose)) for code, prose in lab.prose.items()})


def of_strings() -> Hashes:
    """Hashes of the words that all labs share."""
    return _turned({code: strings(code) for code in LANGUAGES})


def stale(lab: Lab) -> tuple[str, ...]:
    """What changed alone in a lab, in words; nothing means that the languages are abreast."""
    return _told(lab.folder, of_lab(lab))


def stale_strings(content: Path = CONTENT) -> tuple[str, ...]:
    return _told(content, of_strings())


def record(labs: Iterable[Lab], content: Path = CONTENT) -> list[Path]:
    """Writes abreast.toml of each lab and of the shared words: somebody says that the languages agree."""
    written = {content: of_strings(), **{lab.folder: of_lab(lab) for lab in labs}}
    for folder, hashes in written.items():
        (folder / FILE).write_text(HEAD + "".join(_lines(hashes)), encoding="utf-8")
    return [folder / FILE for folder in written]


def _pieces(prose: Prose) -> Iterator[tuple[str, str]]:
    yield from leaves(prose.front)
    for name, parts in sections(prose).items():
        apart = [part for part in parts if isinstance(part, Block) and part.id]
        yield from ((f"{name}.{block.id}", _source(block.parts)) for block in apart)
        if rest := _source([part for part in parts if part not in apart]):
            yield name or "beginning", rest


def _source(parts: Sequence[Part]) -> str:
    """Text of parts; places of cells are compared elsewhere."""
    said: list[str] = []
    for part in parts:
        match part:
            case Text(markdown):
                said.append(markdown)
            case Heading(_, title, _):
                said.append(title)
            case Block(kind, _, _, inside):
                said.append(f"{kind}: {_source(inside)}")
            case Place(_):
                pass
    return "\n\n".join(said)


def _turned(texts: Mapping[str, Mapping[str, str]]) -> Hashes:
    names = dict.fromkeys(name for pieces in texts.values() for name in pieces)
    return {name: {code: _hash(pieces[name]) for code, pieces in texts.items() if name in pieces} for name in names}


def _hash(words: str) -> str:
    """Does not change with line breaks and spaces."""
    return hashlib.sha256(" ".join(words.split()).encode()).hexdigest()[:8]


def _lines(hashes: Hashes) -> Iterator[str]:
    for name, by_language in hashes.items():
        pairs = ", ".join(f'{code} = "{value}"' for code, value in by_language.items())
        yield f'"{name}" = {{ {pairs} }}\n'


def _told(folder: Path, now: Hashes) -> tuple[str, ...]:
    path = folder / FILE
    if not path.is_file():
        return (f"{folder.name}: {FILE} is missing: sfumato labs abreast --record",)
    before: Hashes = tomllib.loads(path.read_text(encoding="utf-8"))
    names = dict.fromkeys([*before, *now])
    return tuple(
        f"{folder.name}, {name}: {said}" for name in names if (said := _lag(before.get(name, {}), now.get(name, {})))
    )


def _lag(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Who changed, and who is behind."""
    codes = [code for code in LANGUAGES if code in before or code in now]
    changed = [code for code in codes if before.get(code) != now.get(code)]
    behind = [code for code in codes if code not in changed]
    if not changed:
        return ""
    if not behind:
        return "changed in every language: if they say the same, run sfumato labs abreast --record"
    return f"changed in {', '.join(changed)} and not in {', '.join(behind)}"
