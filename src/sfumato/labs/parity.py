"""What differs between the languages of a lab. A build refuses while anything does."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from sfumato.labs.filling import PLACEHOLDER
from sfumato.labs.formulas import complaints, formulas, shared_form, stray_dollar
from sfumato.labs.languages import COMPLETE
from sfumato.labs.numerals import numerals
from sfumato.labs.prose import Block, Heading, Part, Place, Prose, Text, walk
from sfumato.labs.sections import leaves, sections
from sfumato.labs.source import Lab
from sfumato.labs.tongues import untranslated

RUNGS = 3  # hints of a task
_BRACES = re.compile(r"(?<!\\)\{(\w+)(?::[^{}]*)?\}")


def differences(lab: Lab) -> tuple[str, ...]:
    """Every difference, in words; none means that the lab can be built in all its languages."""
    return tuple(_all(lab))


def _all(lab: Lab) -> Iterator[str]:
    yield from (f"{code}.md is missing" for code in COMPLETE if code not in lab.prose)
    for code, prose in lab.prose.items():
        yield from (f"{code}.md: {said}" for said in _alone(lab, prose))
    if "en" not in lab.prose:
        return
    first = lab.prose["en"]
    for code, prose in lab.prose.items():
        if code != "en":
            yield from (f"en.md and {code}.md: {said}" for said in _beside(first, prose))
    yield from _points(lab, first)


def _alone(lab: Lab, prose: Prose) -> Iterator[str]:
    """What one language must have, whatever the others say."""
    placed = [part.cell for part in walk(prose.parts) if isinstance(part, Place)]
    known = [cell.id for cell in lab.cells]
    for id_ in known:
        if placed.count(id_) != 1:
            yield f"the cell {id_} stands in {placed.count(id_)} places"
    yield from (f"there is no cell {id_}" for id_ in placed if id_ not in known)
    for cell in lab.tasks:
        if len(prose.hints.get(cell.id, ())) != RUNGS:
            yield f"the task {cell.id} needs {RUNGS} hints"
    yield from _keys("caption", prose.captions, [cell.id for cell in lab.cells if cell.role == "figure"])
    yield from _keys("hint", prose.hints, [cell.id for cell in lab.tasks])
    headings = [part.id for part in walk(prose.parts) if isinstance(part, Heading)]
    yield from (f"the task {cell.id} has no heading {{#{cell.id}}}" for cell in lab.tasks if cell.id not in headings)
    for formula in _formulas(prose.parts, displayed=None):
        yield from complaints(formula)
    for part in walk(prose.parts):
        if isinstance(part, Text) and (stray := stray_dollar(part.markdown)):
            yield f'a $ that belongs to no formula (write it without spaces inside, or as \\$): "{stray}"'
    yield from untranslated(prose)


def _keys(what: str, written: Mapping[str, Any], wanted: Sequence[str]) -> Iterator[str]:
    yield from (f"the {what} {key} is missing" for key in wanted if key not in written)
    yield from (f"the {what} {key} belongs to no cell" for key in written if key not in wanted)


def _beside(first: Prose, other: Prose) -> Iterator[str]:
    """What must be the same in two languages."""
    yield from _same("headings", _outline(first, Heading), _outline(other, Heading))
    yield from _same("cells", _outline(first, Place), _outline(other, Place))
    yield from _same("blocks", _outline(first, Block), _outline(other, Block))
    yield from _same("displayed formulas", _displayed(first), _displayed(other))
    theirs = sections(other)
    for name, one in sections(first).items():
        two = theirs.get(name, [])
        yield from _same_set(f"formulas in {name}", _shared(one), _shared(two))
        yield from _same_set(f"placeholders in {name}", _placeholders(one), _placeholders(two))
        yield from _same_set(f"numbers in {name}", _numbers(one, first.lang), _numbers(two, other.lang))
        yield from _same(f"tables in {name}", _tables(one), _tables(two))
        yield from _same(f"labels in {name}", _labels(one), _labels(two))
    yield from _same_front("", first.front, other.front)
    said = dict(leaves(other.front))
    for name, words in leaves(first.front):
        if name in said:
            here, there = numerals(words, first.lang), numerals(said[name], other.lang)
            yield from _same_set(f"numbers in front matter.{name}", here, there)


def _same(what: str, one: Sequence[str], two: Sequence[str]) -> Iterator[str]:
    if one == two:
        return
    at = next((place for place, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    here, there = (sequence[at] if at < len(sequence) else "nothing" for sequence in (one, two))
    yield f"{what} differ: {here} against {there}"


def _same_set(what: str, one: set[str], two: set[str]) -> Iterator[str]:
    if one - two:
        yield f"{what}: {', '.join(sorted(one - two))} only in the first"
    if two - one:
        yield f"{what}: {', '.join(sorted(two - one))} only in the second"


def _outline(prose: Prose, kind: type[Heading] | type[Place] | type[Block]) -> list[str]:
    return [_named(part) for part in walk(prose.parts) if isinstance(part, kind)]


def _named(part: Part) -> str:
    match part:
        case Heading(level, _, id_):
            return f"{'#' * level} {{#{id_}}}"
        case Place(cell):
            return cell
        case Block(kind, id_, attributes, parts):
            inside = ",".join(_named(each) for each in parts if not isinstance(each, Text))
            said = " ".join(f"{name}={value}" for name, value in sorted(attributes.items()))
            return " ".join(filter(None, [f".{kind}", id_ and f"#{id_}", said, inside and f"({inside})"]))
        case Text(_):
            return ""


def _formulas(parts: Sequence[Part], *, displayed: bool | None) -> list[str]:
    """All formulas, or only those that are displayed, or only those that are not."""
    texts = (part.markdown for part in walk(parts) if isinstance(part, Text))
    return [latex for text in texts for latex, shown in formulas(text) if displayed is None or shown == displayed]


def _displayed(prose: Prose) -> list[str]:
    return [shared_form(latex) for latex in _formulas(prose.parts, displayed=True)]


def _shared(parts: Sequence[Part]) -> set[str]:
    """Which formulas stand in the lines: how often may differ, since sentences do."""
    return {shared_form(latex) for latex in _formulas(parts, displayed=False)}


def _placeholders(parts: Sequence[Part]) -> set[str]:
    """Terms of the glossary aside: a language may need one more often."""
    return {name for text in _texts(parts) for name in PLACEHOLDER.findall(text) if not name.startswith("g.")}


def _numbers(parts: Sequence[Part], lang: str) -> set[str]:
    return {number for text in _texts(parts) for number in numerals(text, lang)}


def _texts(parts: Sequence[Part]) -> Iterator[str]:
    for part in walk(parts):
        if isinstance(part, Text | Heading):
            yield part.markdown if isinstance(part, Text) else part.title


def _tables(parts: Sequence[Part]) -> list[str]:
    """Rows and columns of each pipe table."""
    sizes: list[str] = []
    for part in walk(parts):
        lines = part.markdown.split("\n") if isinstance(part, Text) else []
        rows = 0
        for line, after in pairwise([*lines, ""]):
            if line.startswith("|"):
                rows += 1
                if not after.startswith("|"):
                    sizes.append(f"{rows} rows × {line.count('|') - 1} columns")
                    rows = 0
    return sizes


def _labels(parts: Sequence[Part]) -> list[str]:
    texts = (part.markdown for part in walk(parts) if isinstance(part, Text))
    return [word.strip("{#}") for text in texts for word in text.split() if word.startswith(("{#eq:", "{#tbl:"))]


def _same_front(path: str, one: Any, two: Any) -> Iterator[str]:
    """Keys, lengths of lists, {named} values and placeholders of the front matter."""
    if isinstance(one, dict) and isinstance(two, dict):
        yield from _same_set(f"front matter{path}", set(one), set(two))
        for key in one.keys() & two.keys():
            yield from _same_front(f"{path}.{key}", one[key], two[key])
    elif isinstance(one, list) and isinstance(two, list):
        if len(one) != len(two):
            yield f"front matter{path}: {len(one)} against {len(two)} entries"
        for a, b in zip(one, two, strict=False):
            yield from _same_front(path, a, b)
    elif type(one) is not type(two):
        yield f"front matter{path}: of another kind"
    elif isinstance(one, str):
        yield from _same_set(f"values in front matter{path}", _named_values(one), _named_values(two))


def _named_values(text: str) -> set[str]:
    """{{v.eps}} and {factor}; braces of formulas hold no plain word alone."""
    without = text
    for latex, _ in formulas(text):
        without = without.replace(latex, "")
    named = set(_BRACES.findall(PLACEHOLDER.sub("", without)))
    return {name for name in PLACEHOLDER.findall(text) if not name.startswith("g.")} | named


def _points(lab: Lab, prose: Prose) -> Iterator[str]:
    tasks = sum(cell.points for cell in lab.tasks)
    if tasks != lab.points.get("automatic"):
        yield f"the points of the tasks are {tasks:g}, and lab.toml says {lab.points.get('automatic')}"
    exercises = [part for part in walk(prose.parts) if isinstance(part, Block) and part.kind == "exercise"]
    worth = sum(float(part.attributes.get("points", 0)) for part in exercises)
    if worth != lab.points.get("exercises"):
        yield f"the points of the exercises are {worth:g}, and lab.toml says {lab.points.get('exercises')}"
    for part in walk(prose.parts):
        if isinstance(part, Block) and part.kind in ("exercise", "question"):
            if not part.id:
                yield f"a block of kind {part.kind} has no id"
            if not any(isinstance(inside, Block) and inside.kind == "answer" for inside in part.parts):
                yield f"{part.kind} {part.id} has no answer"
