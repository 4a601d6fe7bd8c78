"""One row never changes how another is read, wherever the table lies and whatever its cells are.

Every kind of ordinary cell meets every odd one: a table of twenty-four rows, and the same with one row more whose cell
is odd. Each place builds its columns as its own library would, by looking at the cells. The rows that both tables hold
must be the same in both, and no question may move further than certified.
"""

import contextlib
import json
import math
import sqlite3
import uuid
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import sfumato as sf
from sfumato.door import written
from sfumato.engines.arrange import look
from sfumato.engines.duckdb import frames
from sfumato.engines.duckdb.cells import id_of, text_of
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.errors import DataUnreadable
from sfumato.schema.columns import Category, Date, Declared, Float, Int, Text
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row

ROWS = 24


class Hostile(int):
    """A number that shouts when it is looked at."""

    def __repr__(self) -> str:
        raise RuntimeError("looked at")

    __str__ = __format__ = __repr__  # type: ignore[assignment]


class Silent:
    def __str__(self) -> str:
        raise RuntimeError("looked at")


class Named(str):
    def __str__(self) -> str:
        return "another"


def cycled(*cells: Any) -> list[Any]:
    return [cells[i % len(cells)] for i in range(ROWS)]


ORDINARY: dict[str, list[Any]] = {
    "truths": cycled(True, False, True),
    "whole": cycled(0, 1, 2, 7),
    "halves": cycled(0.5, 1.5, 2.5, 7.0),
    "with a gap": cycled(1.0, math.nan, 3.0),
    "decimals": cycled(Decimal("0.5"), Decimal("1.5"), Decimal("2")),
    "small decimals": cycled(Decimal("0.5"), Decimal("0.0"), Decimal("-0.5")),
    "lists of decimals": cycled([Decimal("1.5")]),
    "texts": cycled("é", "1", "2.5", "true", "2020-02-03", ""),
    "days": cycled(date(2020, 2, 3), date(2021, 1, 1)),
    "moments": cycled(datetime(2020, 2, 3, 4, 5, 6, 500000), datetime(2021, 1, 1)),
    "zoned": cycled(datetime(2020, 2, 3, 23, 30, tzinfo=timezone(timedelta(hours=-3)))),
    "large": cycled(2**60 + 1, 2**60 + 2, 5),
    "unsigned": cycled(2**63 + 5, 2**64 - 1, 3),
    "large and exact": cycled(2**53, 2**53 + 2, 2**60),
    "large doubles": cycled(1e16, 2.0**60, 1e300, 0.5),
    "lengths of time": cycled(timedelta(days=3), timedelta(0)),
    "hours": cycled(time(4, 5), time(0)),
    "NumPy's days": cycled(np.datetime64("9999-12-31"), np.datetime64("2020-02-03")),
    "NumPy's moments": cycled(np.datetime64("2020-02-03T04:05:06.5"), np.datetime64("2020-02-03T04:05:06")),
    "NumPy's lengths": cycled(np.timedelta64(5, "ns"), np.timedelta64(1, "D")),
    "NumPy's singles": cycled(np.float32(0.1), np.float32(2**25), np.float32(7)),
    "NumPy's halves": cycled(np.float16(0.1), np.float16(7)),
    "pandas' moments": cycled(pd.Timestamp("2020-02-03 04:05:06.123456789"), pd.Timestamp(0)),
    "pandas' zoned": cycled(pd.Timestamp("2020-02-03 23:30", tz="America/New_York")),
    "stretches": cycled(pd.Interval(0, 1), pd.Interval(1, 2)),
    "months": cycled(pd.Period("2020-02", "M")),
    "lists": cycled([1], [2, 3]),
    "mappings": cycled({"a": 1}),
    "views of bytes": cycled(memoryview(b"1")),
    "identities": cycled(uuid.UUID(int=5), uuid.UUID(int=6)),
    "missing": cycled(None),
    "bytes": cycled(b"1", b"\xc3\xa9"),
}
ODD: dict[str, Any] = {
    "text": "x",
    "a number as text": "1.0",
    "empty": "",
    "long": "9" * 5000,
    "surrogate": "\ud800",
    "NUL": "a\0b",
    "text of another class": Named("1"),
    "whole": 3,
    "negative": -1,
    "fraction": 1.25,
    "half": 2.5,
    "tiny": 5e-324,
    "huge": 2**70,
    "monstrous": 10**400,
    "NaN": math.nan,
    "infinity": math.inf,
    "decimal": Decimal("0.25"),
    "whole decimal": Decimal("12.5"),
    "list of decimals": [Decimal("0.25")],
    "decimal NaN": Decimal("sNaN"),
    "vast decimal": Decimal("1e999"),
    "truth": True,
    "nothing": None,
    "bytes": b"\xff",
    "day": date(2020, 2, 3),
    "moment": datetime(2020, 2, 3, 4, 5),
    "zoned": datetime(2020, 2, 3, 4, 5, tzinfo=UTC),
    "hour": time(4, 5),
    "length of time": timedelta(days=3),
    "complex": 1j,
    "NumPy's small": np.int8(3),
    "NumPy's single": np.float32(0.1),
    "NumPy's long": np.longdouble("0.1"),
    "NumPy's day": np.datetime64("2020-02-03"),
    "NumPy's void": np.void(b"ab"),
    "pandas' NA": pd.NA,
    "pandas' NaT": pd.NaT,
    "pandas' moment": pd.Timestamp("2020-02-03", tz="Europe/Berlin"),
    "pandas' length": pd.Timedelta(1, "ns"),
    "pandas' month": pd.Period("2020-02", "M"),
    "identity": uuid.UUID(int=5),
    "part": Fraction(1, 3),
    "list": [1],
    "mapping": {"a": 1},
    "tuple": (),
    "object": Silent(),
    "hostile number": Hostile(3),
    "long double": np.longdouble(2) ** 60 + 1,
    "long list": [1, 0.5],
    "long mapping": {"a": 1, "b": None},
    "long ago": np.datetime64("-5000-01-01"),
    "far ahead": np.datetime64("200000000-01-01"),
    "NumPy's half": np.float16(0.5),
    "zoned nanoseconds": pd.Timestamp("2020-02-03 04:05:06.123456789", tz="UTC"),
    "midnight": datetime(2020, 2, 3),
    "never": datetime(9999, 12, 31, tzinfo=UTC),
    "one": 1 + 0j,
}
ROUNDED = {"large", "unsigned"}  # by pandas, where an odd cell makes doubles of whole numbers: SECURITY says so
DECLARED: dict[str, Declared] = {
    "whole": Int(0, 9),
    "real": Float(0, 9),
    "text": Text(),
    "listed": Category(["é", "1", "2.5", "true", "0.5", "2020-02-03", "x"]),
    "numbered": Category([0, 1, 2, 3]),
    "yes or no": Category([True, False]),
    "day": Date("2020-01-01", "2021-12-31"),
}

# ---- where the cells lie: each builds one column from cells, as its library does by itself, or cannot


def as_they_are(cells: list[Any]) -> Any:
    return pd.Series(cells)


def objects(cells: list[Any]) -> Any:
    made = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):
        made[place] = cell
    return pd.Series(made)


def categories(cells: list[Any]) -> Any:
    return pd.Series(cells).astype("category")


def nullable(cells: list[Any]) -> Any:
    return pd.Series(cells).convert_dtypes()


def on_arrow(cells: list[Any]) -> Any:
    return pd.Series(cells).convert_dtypes(dtype_backend="pyarrow")


def relaxed(cells: list[Any]) -> Any:
    """Polars, told not to be strict; but not where it writes cells out as texts, takes truths or days for numbers, or
    drops all that is no list: SECURITY names what a library has changed by itself.
    """
    made = pl.Series(cells, strict=False)
    written = made.dtype == pl.String and not all(isinstance(cell, str | None) for cell in cells)
    taken = made.dtype.is_numeric() and any(isinstance(cell, bool | date | time | timedelta) for cell in cells)
    emptied = made.dtype.is_nested() and not isinstance(cells[0], list | dict)
    return None if written or taken or emptied else made


FRAMES: dict[str, tuple[Callable[[list[Any]], Any], Callable[[dict[str, Any]], Any]]] = {
    "pandas": (as_they_are, pd.DataFrame),
    "pandas objects": (objects, pd.DataFrame),
    "pandas categories": (categories, pd.DataFrame),
    "pandas nullable": (nullable, pd.DataFrame),
    "pandas on Arrow": (on_arrow, pd.DataFrame),
    "polars": (pl.Series, pl.DataFrame),
    "polars relaxed": (relaxed, pl.DataFrame),
    "polars objects": (lambda cells: pl.Series(cells, dtype=pl.Object), pl.DataFrame),
    "arrow": (pa.array, pa.table),
}
FILES = ["csv", "json lines", "parquet", "duckdb", "sqlite"]
PLACES = [*FRAMES, *FILES]


def for_a_line(cell: Any) -> Any:
    """What JSON can say of a cell."""
    plain = cell if isinstance(cell, str | int | float | bool | list | dict | None) else str(cell)
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain


def lines(columns: dict[str, list[Any]], path: Path) -> Path:
    names = list(columns)
    rows = (dict(zip(names, map(for_a_line, row), strict=True)) for row in zip(*columns.values(), strict=True))
    path.write_text("".join(json.dumps(row, default=str) + "\n" for row in rows), encoding="utf-8")
    return path


def separated(columns: dict[str, list[Any]], path: Path) -> Path:
    def quoted(cell: Any) -> str:
        written = "" if cell is None else str(cell).encode(errors="replace").decode()
        return '"' + written.replace('"', '""') + '"' if written else ""

    rows = [",".join(f'"{name}"' for name in columns)]
    rows += [",".join(map(quoted, row)) for row in zip(*columns.values(), strict=True)]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def in_sqlite(columns: dict[str, list[Any]], path: Path) -> Path:
    """Columns without a type: SQLite keeps whatever is put there. It holds 2,000 columns at most."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        names = ", ".join(f'"{name}"' for name in columns)
        connection.execute(f"CREATE TABLE kept ({names})")
        slots = ", ".join("?" * len(columns))
        connection.executemany(f"INSERT INTO kept VALUES ({slots})", list(zip(*columns.values(), strict=True)))
        connection.commit()
    return path


def possible(form: str, cells: list[Any]) -> Any | None:
    """The column that this place makes of the cells, or None where it cannot hold them."""
    try:
        match form:
            case "csv" | "json lines":
                separated({"x": cells}, Path("/dev/null"))
                return cells
            case "sqlite":
                with contextlib.closing(sqlite3.connect(":memory:")) as connection:
                    for cell in cells:
                        connection.execute("SELECT ?", (cell,)).fetchall()
                return cells
            case "parquet" | "duckdb" | "arrow" if any(isinstance(cell, np.generic) for cell in cells):
                return None  # which pyarrow rounds, to the type of another cell, before they are ours
            case "parquet" | "duckdb":
                return pa.array(cells)
            case "polars" | "polars relaxed" if any(isinstance(cell, Silent) for cell in cells):
                return None  # it would report, from a place of its own, what the cell shouts
            case _:
                return FRAMES[form][0](cells)
    except (Exception, pl.exceptions.PanicException):  # noqa: BLE001 - what a library does not take is never ours
        return None


def stored(form: str, columns: dict[str, Any], folder: Path, stem: str) -> Any:
    match form:
        case "csv":
            return separated(columns, folder / f"{stem}.csv")
        case "json lines":
            return lines(columns, folder / f"{stem}.jsonl")
        case "sqlite":
            return in_sqlite(columns, folder / f"{stem}.sqlite")
        case "parquet":
            pyarrow.parquet.write_table(pa.table(columns), folder / f"{stem}.parquet")
            return folder / f"{stem}.parquet"
        case "duckdb":
            with duckdb.connect(str(folder / f"{stem}.duckdb")) as connection:
                connection.register("given", pa.table(columns))
                connection.execute("CREATE TABLE kept AS SELECT * FROM given")
            return folder / f"{stem}.duckdb"
        case _:
            return FRAMES[form][1](columns)


@contextlib.contextmanager
def opened(source: Any, schema: Schema) -> Iterator[DuckDBEngine]:
    engine = DuckDBEngine(source, schema)
    try:
        yield engine
    finally:
        engine.close()


def kind_of(form: str, column: Any) -> str:
    """The type that the library gave to a column; where it is a list of cells, none."""
    return str(getattr(column, "dtype", getattr(column, "type", "texts"))) + form


def kept(cells: list[Any], column: Any) -> list[bool]:
    """Which cells the library has kept: from 2^53 on it may round whole numbers where it makes doubles of them."""
    large = [isinstance(cell, int | float) and abs(cell) >= 2**53 for cell in cells]
    if isinstance(column, list) or not any(large):
        return [True] * len(cells)
    held = column.to_pylist() if isinstance(column, pa.Array) else list(column)
    plain = [one.item() if isinstance(one, np.generic) else one for one in held]
    return [
        not is_large or bool(one == cell) or one == text_of(cell)
        for one, cell, is_large in zip(plain, cells, large, strict=False)
    ]


def pairs(form: str, ordinary: str) -> dict[str, tuple[Any, Any]]:
    """The column without and with odd cells, where this place can hold both: one pair a type that they turn it into."""
    cells = ORDINARY[ordinary]
    without = possible(form, cells)
    turned: dict[str, list[str]] = {}
    for odd, cell in ODD.items() if without is not None else ():
        column = possible(form, [*cells, cell])
        if column is not None:
            turned.setdefault(kind_of(form, column), []).append(odd)
    found = {}
    for names in turned.values():
        together = possible(form, [*cells, *(ODD[odd] for odd in names)])
        if together is not None:
            found[", ".join(names)] = (without, together)
        else:
            found |= {odd: (without, possible(form, [*cells, ODD[odd]])) for odd in names}
    return found


def changed(form: str, ordinary: str, folder: Path) -> dict[str, bool]:
    """For every declaration and odd cells: whether the rows of both tables hold anything different."""
    names, same = {}, {}
    tables: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    columns: dict[str, Declared] = {}
    for odd, both in pairs(form, ordinary).items():
        in_both = [all(one) for one in zip(*(kept(ORDINARY[ordinary], held) for held in both), strict=True)]
        assert all(in_both) or ordinary in ROUNDED, f"{ordinary} is rounded in {form} with {odd}"
        for declared, column in DECLARED.items():
            name = f"c{len(names)}"
            names[name], columns[name] = f"{ordinary} declared as {declared}, with {odd}", column
            same[name] = in_both
            for table, held in zip(tables, both, strict=True):
                table[name] = held
    if not names:
        return {}
    found = []
    for number, table in enumerate(tables):
        source = stored(form, placed(form, table), folder, f"{ordinary}{number}")
        schema = Schema("data", Row(), {**columns, "place": Int()})
        with opened(source, schema) as engine:
            kinds = dict(row[:2] for row in engine.run("DESCRIBE data"))
            rows = engine.run(f"SELECT {', '.join(names)} FROM data ORDER BY place LIMIT {ROWS}")
        found.append((kinds, list(zip(*rows, strict=True))))
    (kinds, held), (other_kinds, other_held) = found
    return {
        told: (kinds[name] != other_kinds[name] and any(cell is not None for cell in held[place]))
        or any(
            both and repr(one) != repr(other)
            for one, other, both in zip(held[place], other_held[place], same[name], strict=True)
        )
        for place, (name, told) in enumerate(names.items())
    }


def placed(form: str, table: dict[str, Any]) -> dict[str, Any]:
    """All columns made as long as the longest, by repeating cells at their end, with a number for each row."""
    longest = max(map(len, table.values()))
    return {
        **{name: lengthened(column, longest) for name, column in table.items()},
        "place": possible(form, list(range(longest))),
    }


def lengthened(column: Any, longest: int) -> Any:
    missing = longest - len(column)
    if missing == 0:
        return column
    match column:
        case pd.Series():
            return pd.concat([column, *[column.iloc[-1:]] * missing], ignore_index=True)
        case pl.Series():
            return column.gather([*range(len(column)), *[len(column) - 1] * missing])
        case list():
            return [*column, *[column[-1]] * missing]
        case _:
            return pa.concat_arrays([column, *[column.slice(len(column) - 1)] * missing])


def some(form: str, cases: Iterable[Any], many: int = 4) -> list[Any]:
    """One in so many, others in the next place: every case is tried in several."""
    return list(cases)[PLACES.index(form) % many :: many]


@pytest.mark.parametrize("form", PLACES)
def test_no_cell_changes_how_others_are_read(form: str, tmp_path: Path) -> None:
    """In pandas, which turns most of them into something else, all kinds."""
    no_cell_changes_others(form, ORDINARY if form == "pandas" else some(form, ORDINARY), tmp_path)


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", PLACES)
def test_no_cell_of_any_kind_changes_how_others_are_read(form: str, tmp_path: Path) -> None:
    assert no_cell_changes_others(form, ORDINARY, tmp_path) >= 70  # a place that holds nothing would pass


def no_cell_changes_others(form: str, ordinaries: Iterable[str], folder: Path) -> int:
    found = {told: one for ordinary in ordinaries for told, one in changed(form, ordinary, folder).items()}
    assert [told for told, one in found.items() if one] == []
    assert found
    return len(found)


def as_texts(name: str, physical: str, longest: int = 0) -> str:
    return f"TRY_CAST({name} AS VARCHAR)"


TWINS: dict[str, tuple[str, Any, str, str, str]] = {
    "the engine guesses": ("sources.typed", lambda frame, names, unit_id: frame, "pandas objects", "truths", "text"),
    "numbers shown by type": ("canonical._text", as_texts, "pandas", "whole", "nothing"),
    "halves by type": ("canonical.WHOLE_BELOW", 0, "pandas", "halves", "text"),
}


@pytest.mark.parametrize("name", TWINS)
def test_a_broken_twin_is_flagged(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken, by, form, ordinary, odd = TWINS[name]
    monkeypatch.setattr(f"sfumato.engines.duckdb.{broken}", by)
    monkeypatch.setattr("tests.engines.test_cells.ODD", {odd: ODD[odd]})
    assert any(changed(form, ordinary, tmp_path).values())


# ---- ids: nobody else becomes another person, nor is anybody placed into other groups

PEOPLE: dict[str, list[Any]] = {
    "numbers": [i // 3 for i in range(ROWS)],
    "large numbers": [2**60 + i // 3 for i in range(ROWS)],
    "texts": [f"person {i // 3}" for i in range(ROWS)],
    "fractions": [i // 3 + 0.5 for i in range(ROWS)],
    "large doubles": [2.0**60 + 4096 * (i // 3) for i in range(ROWS)],
    "singles": [np.float32(2**25 + 64 * (i // 3)) for i in range(ROWS)],
}
STRANGERS = {
    name: ODD[name]
    for name in ("text", "fraction", "nothing", "huge", "bytes", "long double", "negative", "complex", "NumPy's long")
}
# pandas makes doubles of all, rounds them, and only then finds that they are whole: the cure says to read them so.
THROUGH_DOUBLES = ("pandas nullable", "pandas on Arrow")
REAL = ("float", "double", "halffloat", "complex")
GROUPS = [f"g{i * 7 % 5}" for i in range(ROWS)]
UNIT = Person("who", max_rows=2, max_groups=1)
BY_GROUP = "SELECT g, COUNT(*) AS n, SUM(x) AS s FROM data GROUP BY g"
BY_PERSON = "SELECT COUNT(DISTINCT who) AS n FROM data"


@pytest.mark.parametrize("form", PLACES)
def test_no_id_makes_others_other_people(form: str, tmp_path: Path) -> None:
    assert tried_ids(form, {"nothing", *some(form, STRANGERS)}, tmp_path)


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", PLACES)
def test_no_id_of_any_kind_makes_others_other_people(form: str, tmp_path: Path) -> None:
    assert tried_ids(form, STRANGERS, tmp_path) >= 3


def tried_ids(form: str, strangers: Iterable[str], tmp_path: Path) -> int:
    tried = 0
    for people, ids in PEOPLE.items():
        without = possible(form, ids)
        if without is None or (form in THROUGH_DOUBLES and people == "large doubles"):
            continue  # the latter are whole numbers for pandas, unless one is not: SECURITY says so
        expected = integers_or_refused(form, without, tmp_path, people)
        for stranger in strangers:
            column = possible(form, [*ids, STRANGERS[stranger]])
            if column is None:
                continue
            tried += 1
            found = integers_or_refused(form, column, tmp_path, f"{people}-{stranger}")
            if expected is None or found is None:
                continue
            if not all(kept(ids, column)):
                assert form in THROUGH_DOUBLES, f"{people}, with {stranger}: merged before they are ours, and opened"
                continue
            for (one, most), (other, _) in zip(expected, found, strict=True):
                moved = int(np.abs(np.subtract(one, other)).sum())
                assert moved <= most, f"{people}, with {stranger}: moved by {moved}, certified {most}"
    return tried


def integers_or_refused(form: str, ids: Any, folder: Path, stem: str) -> list[tuple[Any, int]] | None:
    """None for ids of a real type, in which a library may have merged people: those are refused, and no others."""
    kind = ids.cat.categories.dtype if form == "pandas categories" else getattr(ids, "dtype", getattr(ids, "type", ""))
    if not str(kind).lower().startswith(REAL):
        return integers(form, ids, folder, stem)
    with pytest.raises(DataUnreadable, match="floating-point"):
        integers(form, ids, folder, stem)
    return None


def integers(form: str, ids: Any, folder: Path, stem: str) -> list[tuple[Any, int]]:
    """What an engine finds for each measure of the two questions, and how far one person may move it."""
    many = len(ids)
    groups, values = (possible(form, cells) for cells in ([*GROUPS, "g1"][:many], [1] * many))
    source = stored(form, {"who": ids, "g": groups, "x": values}, folder, stem)
    columns: dict[str, Declared] = {"g": Category([f"g{i}" for i in range(5)]), "x": Int(0, 1)}
    asked = answered(source, folder / f"{stem}.ledger", UNIT, columns, (BY_GROUP, BY_PERSON))
    return [pair for _, found, bounds in asked for pair in zip(found, bounds, strict=True)]


@pytest.mark.parametrize("stranger", ["x", "A1", "0001", 1.5, None])
def test_ids_of_one_table_do_not_change_those_of_another(stranger: Any, tmp_path: Path) -> None:
    """What type ids have in the first table may hang on one of them; people of the second stay who they are."""
    columns: dict[str, Declared] = {"x": Int(0, 1)}
    for number, second in enumerate((["0001", "2"], ["A1", "A1"], ["1.4", "0.6"], [1, 2], [1.5, 2.0])):
        counted = []
        for more, first in enumerate(([1, 2, 3], [1, 2, 3, stranger])):
            with sf.protect(
                pd.DataFrame({"who": objects(first), "x": 1}),
                table="data",
                unit=Person("who", 2),
                columns=columns,
                budget=sf.Budget(1000),
                ledger=tmp_path / f"{number}-{more}.ledger",
                tables={"visits": sf.Table(pd.DataFrame({"who": objects(second), "x": 1}), columns)},
            ) as session:
                found = []
                for question in (
                    "SELECT COUNT(*) AS n FROM visits",
                    "SELECT COUNT(DISTINCT who) AS n FROM visits",
                    "SELECT COUNT(*) AS n FROM data JOIN visits ON data.who = visits.who",
                ):
                    (one,) = session._prepare(question, 1).planned
                    found.append(
                        look(
                            session._engine, one.certified.countings, written(one.certified, session._engine.dialect)
                        ).entries[0][0]
                    )
                counted.append(found)
        assert counted[0][:2] == counted[1][:2]
        assert abs(counted[0][2] - counted[1][2]) <= 2


# ---- the whole way: status, types and integers of questions

ASKED = (
    "SELECT COUNT(*) AS a, COUNT(whole) AS b, SUM(whole) AS c, AVG(real) AS d, COUNT(day) AS e FROM data",
    "SELECT COUNT(text) AS n FROM data",
    "SELECT listed, COUNT(*) AS n FROM data GROUP BY listed",
    "SELECT numbered, COUNT(DISTINCT whole) AS n FROM data WHERE real < 5 GROUP BY numbered",
    'SELECT "yes or no", COUNT(*) AS n FROM data GROUP BY "yes or no"',
)
# What a library turns into another type when one such cell is there.
TURNED = [
    ("truths", "text"),
    ("truths", "nothing"),
    ("whole", "fraction"),
    ("whole", "nothing"),
    ("halves", "text"),
    ("decimals", "fraction"),
    ("texts", "bytes"),
    ("moments", "text"),
]


@pytest.mark.parametrize("form", PLACES)
@pytest.mark.parametrize("turned", [1, pytest.param(0, marks=pytest.mark.exhaustive)])
def test_questions_have_the_same_status_types_and_almost_the_same_integers(
    form: str, turned: int, tmp_path: Path
) -> None:
    tried = 0
    for ordinary, odd in TURNED[1::2] if turned else TURNED:
        both = possible(form, ORDINARY[ordinary]), possible(form, [*ORDINARY[ordinary], ODD[odd]])
        if both[0] is None or both[1] is None:
            continue
        tried += 1
        told = []
        for number, column in enumerate(both):
            source = stored(form, dict.fromkeys(DECLARED, column), tmp_path, f"{ordinary}-{odd}-{number}")
            told.append(answered(source, tmp_path / f"{ordinary}-{odd}-{number}.ledger", Row(), DECLARED, ASKED))
        for (status, moved, most), (other_status, other_moved, _) in zip(*told, strict=True):
            assert status == other_status
            for one, other, bound in zip(moved, other_moved, most, strict=True):
                assert np.abs(np.subtract(one, other)).sum() <= bound
    assert tried


def answered(
    source: Any, ledger: Path, unit: Any, columns: dict[str, Declared], questions: tuple[str, ...]
) -> list[tuple[Any, list[Any], list[int]]]:
    """Of each question the types in its answer, what was found for each measure, and how far one unit moves it."""
    budget = sf.Budget(1000)
    with sf.protect(source, table="data", unit=unit, columns=columns, budget=budget, ledger=ledger) as session:
        found = []
        for question in questions:
            answer = session.ask(question, spend=1)
            status = [[(name, type(value).__name__) for name, value in row.items()] for row in answer.rows]
            (one,) = session._prepare(question, 1).planned
            entries = look(
                session._engine, one.certified.countings, written(one.certified, session._engine.dialect)
            ).entries
            bounds = [release.sensitivity.l1 for release in one.certified.releases]
            found.append((status, [list(column) for column in zip(*entries, strict=True)], bounds))
        return found


def test_equal_numbers_have_one_text() -> None:
    assert {text_of(one) for one in (1, 1.0, np.int8(1), np.float32(1), Decimal("1.00"), 1 + 0j, "1")} == {"1"}
    assert text_of(0.1) == "0.1"
    assert text_of(2.0**53) == text_of(2**53) == text_of(np.longdouble(2**53)) == "9007199254740992"
    assert text_of(-0.0) == "0"
    assert text_of(math.inf) == text_of(Decimal("Infinity")) == "inf"
    assert text_of(Decimal("1e999999")) is None  # would be a million digits
    assert text_of(Hostile(3)) == "3"
    assert text_of(Named("1")) == "1"


def test_texts_of_doubles_are_those_of_the_engine() -> None:
    """A column of doubles and a column of objects that are doubles read alike."""
    generator = np.random.default_rng(5)
    numbers = np.concatenate(
        [generator.integers(0, 2**64, 20_000, np.uint64).view(np.float64), generator.normal(size=20_000) * 1e4]
    )
    numbers = numbers[np.isfinite(numbers)]
    schema = Schema("data", Row(), {"typed": Text(), "objects": Text()})
    table = pd.DataFrame({"typed": numbers, "objects": numbers.astype(object)})
    with opened(table, schema) as engine:
        assert engine.run("SELECT COUNT(*) FROM data WHERE typed IS DISTINCT FROM objects") == [(0,)]


def test_decimals_become_the_nearest_double_whatever_their_scale() -> None:
    """Scales come from all rows together; the value of a row may not depend on them."""
    generator = np.random.default_rng(6)
    digits = [int("".join(map(str, generator.integers(0, 10, 17)))) for _ in range(5000)]
    narrow = pa.array([Decimal(one).scaleb(-4) for one in digits], pa.decimal128(21, 4))
    wide = narrow.cast(pa.decimal128(38, 20))
    schema = Schema("data", Row(), {"a": Float(), "b": Float(), "c": Float()})
    with opened(
        pa.table({"a": narrow, "b": wide, "c": [float(Fraction(one, 10**4)) for one in digits]}), schema
    ) as engine:
        assert engine.run("SELECT COUNT(*) FROM data WHERE a IS DISTINCT FROM b OR a IS DISTINCT FROM c") == [(0,)]


@pytest.mark.parametrize("kind", ["s", "ms", "us", "ns"])
def test_times_out_of_range_are_missing_in_frames_and_refuse_files_before_any_question(
    kind: str, tmp_path: Path
) -> None:
    schema = Schema("data", Row(), {"x": Date(), "n": Int()})
    far = np.array(["2020-02-03", "NaT"], dtype=f"datetime64[{kind}]")
    far.view(np.int64)[1] = 2**62 if kind != "ns" else -(2**62)
    with opened(pd.DataFrame({"x": far, "n": [1, 2]}), schema) as engine:
        found = engine.run("SELECT x FROM data ORDER BY n")
    assert found[0] == (date(2020, 2, 3),)
    assert kind == "ns" or found[1] == (None,)
    path = tmp_path / "far.parquet"
    pyarrow.parquet.write_table(pa.table({"x": pa.array([0, -(2**63) + 1], pa.time64("us")), "n": [1, 2]}), path)
    with opened(path, schema) as engine:  # times of day are not read at all
        assert engine.run("SELECT x, n FROM data ORDER BY n") == [(None, 1), (None, 2)]
    pyarrow.parquet.write_table(pa.table({"x": pa.array([0, 2**60], pa.timestamp("ms")), "n": [1, 2]}), path)
    with contextlib.suppress(DataUnreadable), opened(path, schema) as engine:  # opened, it answers
        assert engine.run("SELECT x, n FROM data ORDER BY n") == [(date(1970, 1, 1), 1), (None, 2)]


def test_values_are_chosen_by_their_number_and_not_by_its_width(tmp_path: Path) -> None:
    """Of a person's values those with the smallest hashes count: a wider column may not change them."""
    who, values = [i // 10 for i in range(400)], [-(i * 7 % 50) for i in range(400)]
    found = []
    for kind, more in ((pa.int8(), -60), (pa.int32(), -100_000), (pa.int64(), -(2**40))):
        path = tmp_path / f"{kind}.parquet"
        pyarrow.parquet.write_table(pa.table({"who": [*who, 99], "x": pa.array([*values, more], kind)}), path)
        columns: dict[str, Declared] = {"x": Int(-50, 0)}
        unit = Person("who", max_rows=1)
        # Without the one who is odd; several, because other values may be as many.
        questions = tuple(f"SELECT COUNT(DISTINCT x) AS n FROM data WHERE x >= {-50 + i}" for i in range(6))
        found.append([one for _, one, _ in answered(path, tmp_path / f"{kind}.ledger", unit, columns, questions)])
    assert found[0] == found[1] == found[2]


def test_computed_columns_of_sqlite_are_refused(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "t.sqlite")) as connection:
        connection.execute("CREATE TABLE t (x, y AS (abs(x)))")
        connection.commit()
    with (
        pytest.raises(DataUnreadable, match="computed"),
        opened(tmp_path / "t.sqlite", Schema("data", Row(), {"y": Int()})),
    ):
        pass


def test_decimals_of_more_digits_than_an_engine_has_refuse_the_file(tmp_path: Path) -> None:
    path = tmp_path / "long.parquet"
    pyarrow.parquet.write_table(pa.table({"x": pa.array([Decimal("2.5")], pa.decimal256(50, 39))}), path)
    with pytest.raises(DataUnreadable, match="38 digits"), opened(path, Schema("data", Row(), {"x": Int()})):
        pass


class Decoded(bytes):
    def decode(self, *_: Any) -> Any:
        return ODD


class Shown(datetime):
    def isoformat(self, *_: Any, **__: Any) -> Any:
        return 5


class Weighing(float):
    def __float__(self) -> float:
        raise RuntimeError("weighed")


class Unsure(Decimal):
    def is_nan(self) -> bool:
        raise SystemExit("looked at")


def test_cells_of_hostile_classes_say_what_their_built_in_type_holds() -> None:
    assert [id_of(Weighing(0.5)), id_of(Weighing(2.0**60)), id_of(2.0**60 + 0j)] == ["0.5", None, None]
    cells = [Decoded(b"1"), Shown(2020, 2, 3), Unsure("1.50"), "x"]
    assert [text_of(cell) for cell in cells] == ["1", "2020-02-03", "1.5", "x"]
    with opened(pd.DataFrame({"x": objects(cells)}), Schema("data", Row(), {"x": Text()})) as engine:
        assert {row[0] for row in engine.run("SELECT x FROM data")} == {"1", "2020-02-03", "1.5", "x"}


def test_frames_whose_columns_cannot_be_told_apart_are_refused() -> None:
    with pytest.raises(DataUnreadable, match="two columns have the same name"):
        frames.typed(pd.DataFrame([[1, 2]], columns=["x", "x"]), ["x"], None)
