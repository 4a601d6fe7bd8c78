"""The files under tests/fixtures/sql: a question, a line `---`, and the plan it becomes or `Refused: message`.

Cases are divided by blank lines; a line that starts with `#` is a remark. `python -m tests.query.cases` writes every
lower half anew from what the code says now: read the difference before you keep it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sfumato.errors import SfumatoError
from sfumato.schema.table import Schema
from tests.query.asking import JOINED, SCHEMA, walk
from tests.query.written import summary

FOLDER = Path(__file__).parents[1] / "fixtures" / "sql"
DIVIDER = "---"


@dataclass(frozen=True)
class Case:
    file: str
    line: int
    remarks: tuple[str, ...]
    question: str
    expected: str

    @property
    def refused(self) -> bool:
        return self.expected.startswith("Refused: ")


def read_cases() -> list[Case]:
    return [case for path in sorted(FOLDER.glob("*.txt")) for case in _cases(path)]


def schema_for(file: str) -> Schema:
    return JOINED if file.startswith("joins") else SCHEMA


def outcome(question: str, schema: Schema = SCHEMA) -> str:
    """The plan in a few lines, or the refusal without its hint."""
    try:
        walked = walk(question, schema=schema)
    except SfumatoError as error:
        return f"{type(error).__name__}: {error.message}"
    return summary(walked.plan, walked.draft.columns)


def accept() -> None:
    for path in sorted(FOLDER.glob("*.txt")):
        written = []
        for case in _cases(path):
            body = [case.question, DIVIDER, outcome(case.question, schema_for(path.stem))] if case.question else []
            written.append("\n".join([*case.remarks, *body]))
        path.write_text("\n\n".join(written) + "\n", encoding="utf-8")


def _cases(path: Path) -> Iterator[Case]:
    for line, block in _blocks(path.read_text(encoding="utf-8")):
        remarks = tuple(part for part in block if part.startswith("#"))
        lines = [part for part in block if not part.startswith("#")]
        divider = lines.index(DIVIDER) if DIVIDER in lines else len(lines)
        question, expected = "\n".join(lines[:divider]), "\n".join(lines[divider + 1 :])
        yield Case(path.stem, line + len(remarks), remarks, question, expected)


def _blocks(text: str) -> Iterator[tuple[int, list[str]]]:
    block: list[str] = []
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        if line:
            block.append(line)
        elif block:
            yield number - len(block), block
            block = []


if __name__ == "__main__":
    accept()
