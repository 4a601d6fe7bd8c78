"""Every source behind a session: by policy and by protect, drafted in the shell, with its own ledger beside it."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import DataUnreadable, UsageError
from tests.engines.stores import FORMS, stored_as

pytestmark = pytest.mark.slow

FILES = [form for form in FORMS if form != "memory"]
BY_SEX = "SELECT sex, COUNT(*) AS n, SUM(age) AS s FROM people GROUP BY sex"
COLUMNS = {"age": sf.Int(17, 90), "sex": sf.Category(["f", "m"])}
POLICY = """
[data]
source = "{source}"
{more}
[unit]
id = "user_id"
max_rows = 2
max_groups = 2
[budget]
epsilon = 1e9
[limits]
memory = "1 GB"
seconds = 50
threads = 1
[columns]
age = {{ type = "int", lower = 17, upper = 90 }}
sex = {{ type = "category", values = ["f", "m"] }}
"""


def expected(crowd: pa.Table) -> list[dict[str, Any]]:
    rows = crowd.to_pylist()
    return [
        {
            "sex": sex,
            "n": sum(row["sex"] == sex for row in rows),
            "s": sum(row["age"] for row in rows if row["sex"] == sex),
        }
        for sex in ("f", "m")
    ]


@pytest.mark.parametrize("form", FILES)
def test_a_policy_and_protect_give_the_same_answer(form: str, crowd: pa.Table, tmp_path: Path) -> None:
    source = stored_as(form, crowd, tmp_path)
    (tmp_path / "policy.toml").write_text(POLICY.format(source=source.name, more=""))
    with sf.open(tmp_path / "policy.toml") as session:
        assert session.ask(BY_SEX, spend=10**7).rows == expected(crowd)
        assert session._engine._limits == sf.Limits("1 GB", 50, 1)
    assert (tmp_path / "people.ledger").is_file()
    unit, budget = sf.Person("user_id", max_rows=2, max_groups=2), sf.Budget(10**9)
    with sf.protect(source, unit=unit, columns=COLUMNS, budget=budget) as session:
        again = session.ask(BY_SEX, spend=10**7)
        assert (again.rows, again.cached) == (expected(crowd), True)


@pytest.mark.parametrize("form", ["duckdb", "sqlite"])
def test_a_table_of_a_database_is_chosen(form: str, crowd: pa.Table, tmp_path: Path) -> None:
    source = stored_as(form, crowd, tmp_path)
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY.format(source=source.name, more='source_table = "kept"'))
    with sf.open(policy) as session:
        assert session.ask(BY_SEX, spend=10**7).rows == expected(crowd)
    policy.write_text(POLICY.format(source=source.name, more='source_table = "kep"'))
    with pytest.raises(DataUnreadable, match='has no table "kep"'):
        sf.open(policy)
    unit = sf.Person("user_id", max_rows=2, max_groups=2)
    with pytest.raises(DataUnreadable, match="has no table"):
        sf.protect(source, unit=unit, columns=COLUMNS, budget=sf.Budget(1), source_table="x")
    assert list(tmp_path.glob("*.ledger")) == [tmp_path / "people.ledger"]


def test_the_directory_of_the_policy_itself_may_be_the_table(
    crowd: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = stored_as("directory", crowd.slice(0, 3), tmp_path)
    (folder / "policy.toml").write_text(POLICY.format(source=".", more=""))
    monkeypatch.chdir(folder)
    for name in (folder / "policy.toml", "policy.toml"):
        with sf.open(name) as session:
            assert session.schema.table == "people"
    with sf.protect(".", unit=sf.Row(), columns=COLUMNS, budget=sf.Budget(1), ledger="x.ledger") as session:
        assert session.schema.table == "people"


@pytest.mark.parametrize("form", FILES)
def test_init_drafts_a_policy_that_opens(
    form: str, crowd: pa.Table, tmp_path: Path, shell: Callable[..., tuple[int, str, str]]
) -> None:
    source = stored_as(form, crowd, tmp_path)
    assert shell("init", source)[0] == 0
    drafted = tomllib.loads((tmp_path / "people.toml").read_text())
    assert drafted["data"] == {"source": source.name, "table": "people"}
    assert drafted["unit"]["id"] == "user_id"
    kind = "text" if form == "sqlite" else "int"  # these columns of SQLite have no type
    assert drafted["columns"]["age"] == {"type": kind, **({"lower": 0, "upper": 120} if kind == "int" else {})}
    code, out, _ = shell("ask", tmp_path / "people.toml", "SELECT COUNT(*) AS n FROM people", "--spend", "0.5")
    assert (code, "n" in out) == (0, True)


def test_init_asks_which_table(crowd: pa.Table, tmp_path: Path, shell: Callable[..., tuple[int, str, str]]) -> None:
    source = stored_as("sqlite", crowd, tmp_path)
    code, _, err = shell("init", source, "--source-table", "kepp")
    assert (code, 'Did you mean "kept"?' in err) == (5, True)
    assert shell("init", source, "--source-table", "kept")[0] == 0
    data = tomllib.loads((tmp_path / "people.toml").read_text())["data"]
    assert data == {"source": "people.sqlite", "table": "kept", "source_table": "kept"}
    code, _, err = shell("init", stored_as("csv", crowd, tmp_path), "--source-table", "kept", "--force")
    assert (code, "names a table of a DuckDB or SQLite file" in err) == (2, True)


def test_limits_are_read_with_the_policy(crowd: pa.Table, tmp_path: Path) -> None:
    stored_as("csv", crowd, tmp_path)
    text = POLICY.format(source="people.csv", more="")
    policy = tmp_path / "policy.toml"
    for wrong, says in (
        ("seconds = 50.5", "seconds must be a whole number"),
        ("memory = 4", "is no amount of memory"),
        ("second = 5", 'does not know "second". Did you mean "seconds"?'),
    ):
        policy.write_text(text.replace("seconds = 50", wrong).replace('memory = "1 GB"\nmemory', "memory"))
        with pytest.raises(UsageError, match="limits") as refused:
            sf.open(policy)
        assert says in str(refused.value)
