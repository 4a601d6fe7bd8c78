"""What `make quick` leaves out; and a small crowd that many tests ask about, as a table, in a session, as a file."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import settings

import sfumato as sf
from sfumato.cli.main import run

# The same examples in every run, however slow the machine.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")

TESTS = Path(__file__).parent
# What a question passes through. Everything else is slow, and `-m "not slow…"` does not even collect it.
QUICK = {"architecture", "plan", "schema", "kernel", "query", "ledger", "session", "museum"}


def _is_quick(path: Path) -> bool:
    return path == TESTS or path.relative_to(TESTS).parts[0] in QUICK


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """None leaves it to the others."""
    wanted = str(config.getoption("markexpr"))
    inside = collection_path.is_relative_to(TESTS)
    return True if inside and wanted.startswith("not slow") and not _is_quick(collection_path) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not _is_quick(item.path):
            item.add_marker("slow")


POLICY = """
[data]
source = "people.csv"

[unit]
id = "user_id"
max_rows = 2
max_groups = 2

[budget]
epsilon = 3

[columns]
age = { type = "int", lower = 17, upper = 90 }
income = { type = "float", lower = 0, upper = 200000 }
wealth = { type = "float" }
sex = { type = "category", values = ["m", "f"] }
city = { type = "text" }
name = { type = "identifier" }
"""


@pytest.fixture(scope="session")
def crowd() -> pa.Table:
    """400 people with two rows each; every third is a man."""
    people = [row // 2 for row in range(800)]
    return pa.table(
        {
            "user_id": people,
            "age": [17 + person % 70 for person in people],
            "income": [250.5 * person for person in people],
            "wealth": [1.5 * person for person in people],
            "sex": ["f" if person % 3 else "m" for person in people],
            "city": ["Vinci" if person % 2 else "Urbino" for person in people],
            "name": [f"name {person}" for person in people],
        }
    )


@pytest.fixture
def open_crowd(crowd: pa.Table, tmp_path: Path) -> Iterator[Callable[..., sf.Session]]:
    """Opens sessions on the crowd, all on one ledger, and closes them."""
    opened = []

    def open_session(source: Any = None, **changes: Any) -> sf.Session:
        settings: dict[str, Any] = {
            "table": "people",
            "unit": sf.Person("user_id", max_rows=2, max_groups=2),
            "columns": {
                "age": sf.Int(17, 90),
                "income": sf.Float(0, 200_000),
                "sex": sf.Category(["m", "f"]),
                "city": sf.Text(),
            },
            "budget": sf.Budget(epsilon=3),
            "ledger": tmp_path / "people.ledger",
        }
        opened.append(sf.protect(crowd if source is None else source, **{**settings, **changes}))
        return opened[-1]

    yield open_session
    for session in opened:
        session.close()


@pytest.fixture
def policy(crowd: pa.Table, tmp_path: Path) -> Path:
    """people.toml beside people.csv."""
    pyarrow.csv.write_csv(crowd, tmp_path / "people.csv")
    path = tmp_path / "people.toml"
    path.write_text(POLICY, encoding="utf-8")
    return path


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs `sfumato …` in this process: exit code, standard output, standard error."""

    def call(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            run([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return int(left.value.code or 0), out, err

    return call
