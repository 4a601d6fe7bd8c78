"""`sfumato check`: it counts what a question would count; what is declared wrongly is marked, with a cure."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import sfumato as sf
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.duckdb.fit import TableFit, fits
from sfumato.engines.wordings import engine_failed
from sfumato.schema.policy import load_policy

Shell = Callable[..., tuple[int, str, str]]
WRONG = {
    "user_id": ["a", "a", "a", "b", "b", None],
    "age": ["30", "abc", "200", "-5", None, "40"],
    "price": ["12,5", "13,5", "7,25", None, None, "1,2"],
    "sex": ["m", "M ", "x", "f", "f", "f"],
    "city": ["Vinci", "Siena", "Rome", "Sansepolcro", None, "Pisa"],
    "born": ["2020-01-05", "01.02.2020", "2019-12-31", "2021-01-01", "2020-12-31", None],
    "gone": [None, None, None, None, None, None],
}
DECLARED = """
[data]
source = "{source}"
[unit]
id = "user_id"
max_rows = 2
max_groups = 2
default_max_rows = 1
default_max_groups = 1
[budget]
epsilon = 1e9
[columns]
age = {{ type = "int", lower = 0, upper = 100 }}
price = {{ type = "float", lower = 0, upper = 100 }}
sex = {{ type = "category", values = ["m", "f"] }}
city = {{ type = "text", longest = 6 }}
born = {{ type = "date", lower = "2020-01-01", upper = "2020-12-31" }}
gone = {{ type = "int" }}
"""


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    pyarrow.csv.write_csv(pa.table(WRONG), tmp_path / "wrong.csv")
    path = tmp_path / "wrong.toml"
    path.write_text(DECLARED.format(source="wrong.csv"), encoding="utf-8")
    return path


def counted(policy: Path) -> TableFit:
    (found,) = fits(load_policy(policy))
    return found


def test_every_cell_is_counted_once(wrong: Path) -> None:
    found = counted(wrong)
    assert (found.rows, found.nobodys, found.people) == (6, 1, 2)
    assert found.too_many_rows is not None
    assert (found.too_many_rows.default, found.too_many_rows.most) == (2, 1)
    told = {one.column: (one.there, one.fit, one.below, one.above, one.mendable) for one in found.columns}
    assert told == {
        "age": (5, 4, 1, 1, 0),
        "price": (4, 0, 0, 0, 4),
        "sex": (6, 4, None, None, 1),
        "city": (5, 4, None, None, 0),
        "born": (5, 4, 1, 1, 1),
        "gone": (0, 0, None, None, 0),
    }
    groups = {one.column: (one.groups.default, one.groups.most) for one in found.columns if one.groups}
    assert groups == {"age": (0, 0), "sex": (0, 0), "city": (1, 1), "born": (0, 0)}


def test_wrong_declarations_are_seen_at_a_glance(shell: Shell, wrong: Path) -> None:
    code, out, err = shell("check", wrong)
    assert (code, err) == (0, "")
    assert out.splitlines()[0].startswith("For the owner's eyes only")
    said = dict(line.split(": ", 1) for line in out.splitlines() if ": " in line[:20])
    assert said["!! wrong.price"].startswith("NONE of 4 fits")
    assert "12.5" in said["!! wrong.price"]
    assert said["!! wrong.gone"].startswith("no cell is there")
    assert "capitals and blanks" in said["? wrong.sex"]
    assert any(line.startswith("? wrong.born") and "2024-01-31" in line for line in out.splitlines())
    assert "longer" in said["? wrong.city"]
    assert not any(value in out for value in ("Vinci", "abc", "12,5\n", "Sansepolcro", "01.02.2020"))
    assert not wrong.with_suffix(".ledger").exists()


def test_other_formats_say_the_same(shell: Shell, wrong: Path, tmp_path: Path) -> None:
    code, out, err = shell("check", wrong, "--format", "csv")
    rows = {row["column"]: row for row in csv.DictReader(io.StringIO(out))}
    assert code == 0
    assert err.startswith("For the owner's eyes only")
    assert [name for name, row in rows.items() if row["mark"] == "!!"] == ["price", "gone"]
    assert (rows["user_id"]["fit"], rows["user_id"]["people over default"]) == ("5", "2")
    code, out, err = shell("check", wrong, "--format", "json", "--output", tmp_path / "out.json")
    assert (code, out, err) == (0, "", "")
    content = json.loads((tmp_path / "out.json").read_text())
    assert content["notice"].startswith("For the owner's eyes only")
    columns = {one["column"]: one for one in content["tables"][0]["columns"]}
    assert [name for name, one in columns.items() if one["none_fits"]] == ["price", "gone"]
    assert (columns["sex"]["none_of_the_values"], columns["city"]["longer"]) == (2, 1)
    assert columns["born"]["people_beyond_max_groups"] == {"default": 0, "ceiling": 0}


def test_a_table_that_fits_is_not_marked(shell: Shell, policy: Path) -> None:
    code, out, _ = shell("check", policy, "--format", "csv")
    assert code == 0
    assert {row["mark"] for row in csv.DictReader(io.StringIO(out))} == {""}
    assert "people: 800 rows of 400 people." in shell("check", policy)[1]


ODD = {
    "x": pa.array([1.5, float("nan"), float("inf"), -1e300, None, 2.0]),
    "n": pa.array([1, -(2**62), 2**62, None, 5, 0]),
    "t": pa.array(["1", "1e3", " 7 ", "true", "", "12,5"]),
    "d": pa.array([0, 10**15, None, -(10**15), 1, 2], pa.timestamp("us", "Europe/Rome")),
    "b": pa.array([True, False, None, True, True, False]),
    "z": pa.array([b"ab", b"\xff", None, b"3", b"2020-01-01", b""]),
    "w": pa.array([None, "1.50", "2", "3.25", "-1", "0"]).cast(pa.decimal128(20, 2)),
    "l": pa.array([[1], [], None, [2, 3], [4], [5]]),
}
KINDS = {
    "int": 'type = "int", lower = -5, upper = 5',
    "float": 'type = "float", lower = -5, upper = 5',
    "date": 'type = "date", lower = "2000-01-01", upper = "2030-01-01"',
    "text": 'type = "text", longest = 4',
    "flag": 'type = "category", values = [true, false]',
    "whole": 'type = "category", values = [1, 2, 5]',
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("keeper", ["parquet", "csv"])
def test_what_fits_is_what_a_question_counts(tmp_path: Path, keeper: str, kind: str) -> None:
    """Whatever type a column has and whatever is declared of it: COUNT(x), at a price without noise, is `fit`."""
    names = [name for name in ODD if keeper == "parquet" or name not in "zl"]
    table = pa.table({name: ODD[name] for name in names})
    write = pyarrow.parquet.write_table if keeper == "parquet" else pyarrow.csv.write_csv
    write(table, tmp_path / f"odd.{keeper}")
    lines = "\n".join(f"{name} = {{ {KINDS[kind]} }}" for name in names)
    policy = tmp_path / "odd.toml"
    policy.write_text(
        f'[data]\nsource = "odd.{keeper}"\n[unit]\nkind = "row"\n[budget]\nepsilon = 1e9\n[columns]\n{lines}\n'
    )
    found = {one.column: one for one in counted(policy).columns}
    with sf.open(policy) as session:
        for name in names:
            if kind in ("flag", "whole"):
                asked = f"SELECT {name}, COUNT(*) AS k FROM odd GROUP BY {name}"
            else:
                asked = f"SELECT COUNT({name}) AS k FROM odd"
            told = sum(row["k"] for row in session.ask(asked, spend=1e6).rows)
            assert found[name].fit == told, (name, kind)


def test_further_tables_and_lookups_are_checked_too(tmp_path: Path) -> None:
    pyarrow.csv.write_csv(pa.table({"who": ["a", "b", "b"], "age": [1, 2, 3]}), tmp_path / "p.csv")
    pyarrow.csv.write_csv(pa.table({"who": ["b"] * 4, "pay": ["1,5", "2", "3", "4"]}), tmp_path / "pay.csv")
    pyarrow.csv.write_csv(pa.table({"zip": ["1", "2"], "side": ["N", "E"]}), tmp_path / "side.csv")
    policy = tmp_path / "p.toml"
    policy.write_text(
        '[data]\nsource = "p.csv"\n[unit]\nid = "who"\nmax_rows = 2\n[budget]\nepsilon = 1\n'
        '[columns]\nage = { type = "int" }\n'
        '[tables.pay]\nsource = "pay.csv"\nmax_rows = 3\n[tables.pay.columns]\npay = { type = "float" }\n'
        '[lookups.side]\nsource = "side.csv"\nkey = "zip"\n[lookups.side.columns]\n'
        'side = { type = "category", values = ["N", "S"] }\n'
    )
    people, pay, side = fits(load_policy(policy))
    assert (people.table, people.people, people.columns[0].fit) == ("p", 2, 3)
    assert (pay.table, pay.people, pay.columns[0].fit, pay.columns[0].mendable) == ("pay", 1, 3, 1)
    assert pay.too_many_rows is not None
    assert pay.too_many_rows.most == 1
    assert (side.table, side.people, side.columns[0].there, side.columns[0].fit) == ("side", None, 2, 1)


def test_columns_may_be_called_anything(tmp_path: Path) -> None:
    """Also as the query calls its own."""
    (tmp_path / "cells.csv").write_text('person,t0,c0,"a""b",cells,people\n1,2,x,4,5,6\n1,2,3,4,5,6\n')
    columns = "\n".join(f"{name} = {{ {KINDS['int']} }}" for name in ("t0", "c0", "'a\"b'", "cells", "people"))
    policy = tmp_path / "cells.toml"
    policy.write_text(
        '[data]\nsource = "cells.csv"\n[unit]\nid = "person"\nmax_rows = 1\n[budget]\nepsilon = 1\n'
        f"[columns]\n{columns}\n"
    )
    found = counted(policy)
    assert (found.rows, found.people) == (2, 1)
    assert {one.column: one.fit for one in found.columns} == {"t0": 2, "c0": 1, 'a"b': 2, "cells": 2, "people": 2}


def test_a_check_that_takes_too_long_says_that_nothing_was_spent(
    shell: Shell, wrong: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise engine_failed()

    monkeypatch.setattr(DuckDBEngine, "run", failing)
    code, out, err = shell("check", wrong)
    assert (code, out) == (5, "")
    assert "Nothing was spent" in err


def test_an_empty_table_and_one_of_nobody(shell: Shell, wrong: Path) -> None:
    source = wrong.with_suffix(".csv")
    header, *rows = source.read_text().splitlines(keepends=True)
    source.write_text(header)
    code, out, _ = shell("check", wrong)
    assert (code, "!!" in out, "there are no rows" in out) == (0, False, True)
    source.write_text(header + rows[-1])
    assert 'no cell of the id "user_id" can be read' in shell("check", wrong)[1]


def test_bounds_that_many_cells_exceed_are_told(shell: Shell, wrong: Path) -> None:
    assert "of 4 cells, 1 below and 1 above the bounds count as the bound" in shell("check", wrong)[1]


@pytest.mark.parametrize(
    ("change", "code", "says"),
    [
        (lambda policy: policy.unlink(), 5, "wrong.toml"),
        (lambda policy: policy.write_text("[data"), 2, "TOML"),
        (lambda policy: policy.write_text(policy.read_text().replace('"int"', '"itn"')), 2, "itn"),
        (lambda policy: policy.write_text(policy.read_text().replace("price =", "prise =")), 5, 'no column "prise"'),
        (lambda policy: policy.with_suffix(".csv").unlink(), 5, "wrong.csv"),
        (lambda policy: policy.with_suffix(".csv").write_bytes(b"user_id,age\n\xff\xfe,1\n"), 5, "wrong.csv"),
    ],
)
def test_bad_input_is_refused_in_words(
    shell: Shell, wrong: Path, change: Callable[[Path], object], code: int, says: str
) -> None:
    change(wrong)
    left, out, err = shell("check", wrong)
    assert (left, out) == (code, "")
    assert says in err
    assert "Traceback" not in err


def test_a_file_that_may_not_be_read_or_written(shell: Shell, wrong: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, _, err = shell("check", wrong, "--output", wrong.parent / "missing" / "out.csv")
    assert code == 2
    assert "cannot be written" in err

    def refused(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_text", refused)
    code, _, err = shell("check", wrong)
    assert code in (2, 5)
    assert "wrong.toml" in err
