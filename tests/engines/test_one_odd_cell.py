"""One odd cell changes nothing of the others: not what they read to, nor their type, nor how they are hashed.

A dozen rows of every kind, and the same with one row more whose cell is odd, in every place that builds a column as its
library does; each declared in every way. Beside them the engine's own types, one against the other: a library may give
a column any of them because of one row.
"""

import json
import math
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sfumato.engines.duckdb import canonical
from sfumato.engines.duckdb.cells import text_of
from sfumato.errors import DataUnreadable
from sfumato.schema.columns import Category, Date, Declared, Float, Int, Text
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row
from tests.engines import test_cells
from tests.engines.test_cells import FILES, FRAMES, kind_of, opened, stored
from tests.marks import one_in

ODD: dict[str, Any] = {
    "2^31": 2**31,
    "2^53 - 1": 2**53 - 1,
    "2^53 + 1": 2**53 + 1,
    "2^63": 2**63,
    "2^64": 2**64,
    "-2^63 - 1": -(2**63) - 1,
    "2^127 - 1": 2**127 - 1,
    "half": 2.5,
    "1e300": 1e300,
    "inf": math.inf,
    "nan": math.nan,
    "20 digits": Decimal("1234567890123456789.5"),
    "38 digits": Decimal("9" * 38),
    "38 places": Decimal("0." + "7" * 38),
    "truth": True,
    "day": date(2020, 2, 3),
    "moment": datetime(2020, 2, 3, 4, 5, 6, 7),
    "zoned": datetime(2020, 2, 3, 23, 30, tzinfo=timezone(timedelta(hours=-3))),
    "year 9999": datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    "first nanosecond": np.datetime64(-(2**63) + 1, "ns"),
    "last nanosecond": np.datetime64(2**63 - 1, "ns"),
    "zoned nanosecond": pd.Timestamp("2020-02-03 04:05:06.000000001", tz="UTC"),
    "year 10000": np.datetime64("10000-01-01", "s"),
    "pandas' year 10000": pd.Timestamp(np.datetime64("10000-01-01", "s")),
    "pandas' last": pd.Timestamp.max,
    "pandas' first": pd.Timestamp.min,
    "bytes": b"7",
    "no UTF-8": b"\xff\xfe",
    "long": "x" * 5000,
    "long digits": "7" * 5000,
    "quotes and lines": "a \"b\"\n'c'\r\n,;\t",
    "empty": "",
    "text": "x",
    "as JSON": '{"a": [1, "b"]}',
    "list": [1, "2", None],
    "mapping": {"a": 1, "b": [2]},
    "nothing": None,
}
ORDINARY: dict[str, list[Any]] = {
    "whole": [0, 1, -1, 7, -7, 2**31 - 1, -(2**31), 2**53 - 1, 1 - 2**53, 10**6, 3, 2],
    "wide": [2**53, 2**53 + 1, -(2**53) - 1, 2**60 + 129, -(2**60) - 129, 2**63 - 1, -(2**63), -5, 7, 1, 0, 2],
    "unsigned": [0, 1, 2, 7, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1, 2**53 + 1, 3, 10, 255],
    "real": [0.5, 1.5, 2.5, -2.5, -7.0, 0.1, -0.3333, 1e-7, 1e16, 1e300, -(2.0**127), -0.0],
    "decimal": [
        Decimal(text) for text in ("0.5", "1.5", "-2.50", "7", "0.1", "-0.3333", "0", "2.5", "-7", "3", "1", "2")
    ],
    "small": [Decimal(sign * 2.0**-power) for sign in (1, -1) for power in (1, 4, 10, 14, 17, 20)],
    "truth": [True, False, True, True, False, None, True, False, False, True, False, True],
    "day": [
        date(*one) for one in ((2020, 2, 3), (1, 1, 1), (9999, 12, 31), (1969, 12, 31), (1955, 3, 1), (1970, 1, 1)) * 2
    ],
    "moment": [
        datetime(*one)
        for one in ((2020, 2, 3, 4, 5, 6, 500000), (2020, 2, 3), (1969, 12, 31, 23, 59, 59, 999999), (1700, 1, 1, 1))
        * 3
    ],
    "zoned": [datetime(2020, 2, 3 + i, 23, 30, i, tzinfo=timezone(timedelta(hours=-3))) for i in range(12)],
    "nanosecond": [
        pd.Timestamp(one)
        for one in ("1955-03-01 23:59:59.999999999", "2020-02-03", "2020-02-03 04:05:06.1", pd.Timestamp.max) * 3
    ],
    "text": ["é", "1", "2.5", "true", "2020-02-03", "", "-7", "x", "0.5", "1e3", "9007199254740993", "[1]"],
    "bytes": [b"1", b"\xc3\xa9", b"2.5", b"true", b"2020-02-03", b"", b"-7", b"x", b"0.5", b"1e3", b"a\nb", b'"'],
}
ROWS = 12
DECLARED: dict[str, Declared] = {
    "whole": Int(),
    "real": Float(),
    "day": Date(),
    "text": Text(),
    "listed": Category(["é", "1", "2.5", "true", "0.5", "-7", "2020-02-03", "7"]),
    "numbered": Category([0, 1, 2, 7, -7, 2**53 + 1]),
    "vast": Category([2**64 - 1, 7, -7]),
    "yes": Category([True, False]),
}
BY_ITSELF, OF_JSON = "duckdb by itself", "duckdb of JSON"
PLACES = [*FRAMES, *FILES, BY_ITSELF, OF_JSON]


@dataclass(frozen=True)
class Made:
    """A column that DuckDB has made of cells: which type it has given to all of them."""

    type: str
    cells: list[Any]

    def __len__(self) -> int:
        return len(self.cells)


@cache
def maker() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1})


def by_itself(form: str, cells: list[Any], path: Path) -> Made:
    if form == BY_ITSELF:
        relation, given = f"(VALUES {', '.join(['(?)'] * len(cells))}) AS t(x)", cells
    else:
        relation, given = f"read_json_auto('{test_cells.lines({'x': cells}, path)}') AS t", []
    rows = maker().execute(f"SELECT x, typeof(x) FROM {relation}", given).fetchall()
    return Made(rows[0][1], [cell for cell, _ in rows])


def in_duckdb(columns: dict[str, Made], path: Path) -> Path:
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE kept ({', '.join(f'{name} {one.type}' for name, one in columns.items())})")
        slots = ", ".join(f"CAST(? AS {one.type})" for one in columns.values())
        rows = zip(*(one.cells for one in columns.values()), strict=True)
        connection.executemany(f"INSERT INTO kept VALUES ({slots})", [*rows])
    return path


def on_arrow(form: str, cells: list[Any]) -> Any | None:
    """Whole numbers in the first type that holds them all, as writers of files choose it: Arrow itself knows one."""
    if all(type(cell) is int or cell is None for cell in cells):
        for kind in (pa.int64(), pa.uint64(), pa.decimal128(38, 0)):
            try:
                return pa.array(cells, kind)
            except (OverflowError, pa.ArrowInvalid):
                pass
    column = test_cells.possible(form, cells)
    return None if form == "duckdb" and column is not None and pa.types.is_decimal256(column.type) else column


def built(form: str, cells: list[Any], folder: Path) -> Any | None:
    """The column that this place makes of the cells, or None where its library refuses to."""
    if form in ("arrow", "parquet", "duckdb"):
        return on_arrow(form, cells)
    if form == "sqlite":  # whose own texts of days and moments newer versions of Python warn of
        return test_cells.possible(form, [str(cell) if isinstance(cell, date) else cell for cell in cells])
    if form not in (BY_ITSELF, OF_JSON):
        return test_cells.possible(form, cells)
    try:
        return by_itself(form, cells, folder / "cells.jsonl")
    except (duckdb.Error, RuntimeError, OverflowError):
        return None


def kept_in(form: str, columns: dict[str, Any], folder: Path, stem: str) -> Any:
    if form in (BY_ITSELF, OF_JSON):
        return in_duckdb(columns, folder / f"{stem}.duckdb")
    return stored(form, columns, folder, stem)


def held(column: Any, begin: int = 0) -> list[Any]:
    """What the library shows of the ordinary rows, which it may have changed by itself."""
    rows = slice(begin, begin + ROWS)
    match column:
        case Made(type="JSON", cells=cells):
            return [None if cell is None else json.loads(cell) for cell in cells[rows]]
        case Made(cells=cells):
            return cells[rows]
        case pa.Array():
            return column[rows].to_pylist()
        case _:
            return list(column[rows])


def as_it_was(one: Any, other: Any) -> bool:
    """Whether two libraries show one cell: equal numbers are one, and so is a text that stands for what it says."""
    numbers = all(isinstance(cell, int | float | Decimal) and not isinstance(cell, bool) for cell in (one, other))
    return text_of(one) == text_of(other) or (numbers and bool(one == other))


Read = list[list[tuple[Any, str, int]]]


def read(source: Any, columns: dict[str, Declared], unit: Any = None) -> Read | None:
    """Of every column what its first rows read to, with type and hash; None if the table is refused."""
    schema = Schema("data", unit or Row(), {**columns, "place": Int()})
    names = [*columns] if unit is None else [f"CAST({unit.id} AS VARCHAR)"]
    shown = ", ".join(f"{name}, typeof({name}), hash({name})" for name in names)
    try:
        with opened(source, schema) as engine:
            rows = engine.run(f"SELECT {shown} FROM (SELECT * FROM data ORDER BY place LIMIT {ROWS})")
    except DataUnreadable:
        return None
    return [[row[i : i + 3] for row in rows] for i in range(0, 3 * len(names), 3)]


def differs(one: tuple[Any, str, int], other: tuple[Any, str, int]) -> bool:
    """Zero may lose its sign, which nobody sees: it is hashed alike, and what names a row has none."""
    alike = one[0] == other[0] and type(one[0]) is type(other[0])
    return not (alike or repr(one[0]) == repr(other[0])) or one[1:] != other[1:]


SPOKEN = ["whole", "wide", "real", "text"]  # of which JSON has a type; all else are texts there


def asked_of(form: str, ordinary: str, kind: str, place: int, met: set[str]) -> list[str]:
    """All declarations of the first cell that gives the column a type: one statement a type reads all of it.

    Of any other cell some, in turn: over all kinds of rows, every cell meets every declaration in every place.
    """
    if kind not in met:
        met.add(kind)
        return [*DECLARED]
    many, kinds = (2, SPOKEN) if form == OF_JSON else (1, [*ORDINARY])
    first = many * (place + kinds.index(ordinary)) % len(DECLARED)
    return [*DECLARED][first : first + many]


def seen(form: str, ordinary: str, folder: Path, *, first: bool = False) -> tuple[str, list[str]]:
    """A sign for each odd cell (see BUILT), and what differs in rows that the library has left as they were.

    The odd cell comes last, or first; by `place` its row is the last either way.
    """
    cells, met = ORDINARY[ordinary], set[str]()
    without = built(form, cells, folder)
    if without is None:
        return "", []
    columns = {odd: built(form, [cell, *cells] if first else [*cells, cell], folder) for odd, cell in ODD.items()}
    asked = {
        odd: asked_of(form, ordinary, kind_of(form, column), place, met)
        for place, (odd, column) in enumerate(columns.items())
        if column is not None
    }
    places = [*range(ROWS)]
    numbers = [built(form, one, folder) for one in (places, [ROWS, *places] if first else [*places, ROWS])]
    source = kept_in(form, {**dict.fromkeys(DECLARED, without), "place": numbers[0]}, folder, "without")
    found = read(source, DECLARED)
    assert found is not None
    expected = dict(zip(DECLARED, found, strict=True))
    more = together(form, columns, asked, numbers[1], folder)
    signs, told = "", []
    for odd, column in columns.items():
        if column is None or more[odd] is None:
            signs += "." if column is None else "r"
            continue
        same = [*map(as_it_was, held(without), shown(column, first=first))]
        signs += "#" if all(same) else "c"
        for declared, rows in more[odd].items():
            for one, other, alike in zip(expected[declared], rows, same, strict=True):
                if alike and differs(one, other):
                    told.append(f"{ordinary} as {declared} in {form}, with {odd}: {one} became {other}")
    return signs, told


def shown(column: Any, *, first: bool) -> list[Any]:
    """As the library shows it; one that has made moments of numbers, for a cell that came first, may not."""
    try:
        return held(column, begin=int(first))
    except (OverflowError, ValueError):
        if not first:
            raise
        return [object()] * ROWS


def together(
    form: str, columns: dict[str, Any], asked: dict[str, list[str]], numbers: Any, folder: Path
) -> dict[str, Any]:
    """What the rows read to beside each odd cell: columns of one table, or tables of their own if that is refused."""

    def read_all(odds: list[str], stem: str) -> dict[str, Any]:
        names = {f"c{i}": pair for i, pair in enumerate((odd, one) for odd in odds for one in asked[odd])}
        source = kept_in(
            form, {**{name: columns[odd] for name, (odd, _) in names.items()}, "place": numbers}, folder, stem
        )
        rows = read(source, {name: DECLARED[declared] for name, (_, declared) in names.items()})
        if rows is None:
            if len(odds) == 1:
                return {odds[0]: None}
            return {k: v for i, odd in enumerate(odds) for k, v in read_all([odd], f"{stem}{i}").items()}
        found: dict[str, Any] = {odd: {} for odd in odds}
        for (odd, declared), column in zip(names.values(), rows, strict=True):
            found[odd][declared] = column
        return found

    return dict.fromkeys(columns) | read_all([*asked], "with")


# A sign for each odd cell, in their order. #: read. r: refused by the type that its column has, before any question.
# c: the library itself changes other rows, which SECURITY names. A point: the library refuses to make such a column.
# Where a place is not listed, all are read.
BUILT: dict[str, dict[str, str]] = {
    "pandas": {
        "wide": "#######cccc#########################c",
        "unsigned": "#######cccc#########################c",
    },
    "pandas categories": {
        "whole": "##################################..#",
        "wide": "#######cccc#######################..c",
        "unsigned": "#######cccc#######################..c",
        "real": "##################################..#",
        "decimal": "##################################..#",
        "small": "##################################..#",
        "truth": "##################################..#",
        "day": "##################################..#",
        "moment": "##################################..#",
        "zoned": "#######################.##########..#",
        "nanosecond": "##################################..#",
        "text": "##################################..#",
        "bytes": "##################################..#",
    },
    "polars": {
        "whole": "###...........#.....................#",
        "wide": "###...........#.....................#",
        "unsigned": "####..........#.....................#",
        "real": "###############....##.#.............#",
        "decimal": "...........##c......................#",
        "small": "...........###......................#",
        "truth": "..............#.....................#",
        "day": "...............#....................#",
        "moment": "................###..#.###..........#",
        "zoned": "................###..#.###..........#",
        "nanosecond": "................###..#.###..........#",
        "text": "............................######..#",
        "bytes": "..........................##........#",
    },
    "polars relaxed": {
        "whole": "#############c.....##.#...##......###",
        "wide": "#######cccc##c.....cc.c...##......###",
        "unsigned": "#######cccc##c.####cc#c#####......###",
        "real": "##############.....##.#...##......###",
        "decimal": "#############c##############......###",
        "small": "############################......###",
        "truth": "...........########..#.#####......###",
        "day": "...####....########..#.#####......###",
        "moment": "...............##......###..........#",
        "zoned": "...............#.##..#..............#",
        "nanosecond": "...............##......###..........#",
        "text": "..........................########..#",
    },
    "arrow": {
        "whole": "######.######.......................#",
        "wide": "######.....##.......................#",
        "unsigned": "######......#.......................#",
        "real": "##.....####...#.....................#",
        "decimal": "...........#rr......................#",
        "small": "...........rr#......................#",
        "truth": "..............#.....................#",
        "day": ".......#.....#.####..#.###..........#",
        "moment": "###....#...#.#..###..#.###..........#",
        "zoned": "###....#...#.#..###..#.###..........#",
        "nanosecond": "###....#...#.#..###..#.###..........#",
        "text": "..........................########..#",
        "bytes": "..........................########..#",
    },
    "duckdb": {
        "whole": "######.######.......................#",
        "wide": "######.....##.......................#",
        "unsigned": "######......#.......................#",
        "real": "##.....####...#.....................#",
        "decimal": "...........#........................#",
        "small": ".............#......................#",
        "truth": "..............#.....................#",
        "day": ".......#.....#.####..#.###..........#",
        "moment": "###....#...#.#..###..#.###..........#",
        "zoned": "###....#...#.#..###..#.###..........#",
        "nanosecond": "###....#...#.#..###..#.###..........#",
        "text": "..........................########..#",
        "bytes": "..........................########..#",
    },
    "sqlite": {
        "whole": "###....####...####################..#",
        "wide": "###....####...####################..#",
        "unsigned": "",
        "real": "###....####...####################..#",
        "decimal": "",
        "small": "",
        "truth": "###....####...####################..#",
        "day": "###....####...####################..#",
        "moment": "###....####...####################..#",
        "zoned": "###....####...####################..#",
        "nanosecond": "###....####...####################..#",
        "text": "###....####...####################..#",
        "bytes": "###....####...####################..#",
    },
    "duckdb by itself": {
        "whole": "#############.#....##.#.............#",
        "wide": "#######cccc##.#....##.#.............#",
        "unsigned": "#######cccc##.#....##.#.............#",
        "real": "##############.....##.#......#......#",
        "decimal": "######.#####c#.....##.#.............#",
        "small": "###....####cc#........#.............#",
        "truth": "ccccccc.......#....cc.c.............#",
        "day": "...............##......###..........#",
        "moment": "...............##......###..........#",
        "zoned": "",
        "nanosecond": "...............##......###..........#",
        "text": "............................######..#",
        "bytes": "..........................########..#",
    },
    "duckdb of JSON": {
        "wide": "####ccccc############################",
    },
}
for like, place in (("pandas", "pandas nullable"), ("pandas", "pandas on Arrow"), ("arrow", "parquet")):
    BUILT[place] = BUILT[like]


def one_odd_cell(form: str, ordinary: str, folder: Path) -> None:
    signs, told = seen(form, ordinary, folder)
    assert told == []
    expected = BUILT.get(form, {}).get(ordinary, "#" * len(ODD))
    # A library may take more or change less than it did, in this process or in a later version (some of Polars' ways
    # hang on what its process did before): what it takes was compared above.
    allowed = {".": ".#cr", "c": "c#"}
    pairs = zip(signs, expected, strict=True)
    assert [odd for odd, (sign, old) in zip(ODD, pairs, strict=bool(signs)) if sign not in allowed.get(old, old)] == []


CASES = [(form, ordinary) for form in PLACES for ordinary in (SPOKEN if form == OF_JSON else ORDINARY)]


@pytest.mark.parametrize(("form", "ordinary"), one_in(12, CASES))
def test_one_odd_cell_changes_nothing_of_others(form: str, ordinary: str, tmp_path: Path) -> None:
    one_odd_cell(form, ordinary, tmp_path)


@pytest.mark.parametrize(("form", "ordinary"), one_in(36, CASES))
def test_nor_does_one_that_comes_first(form: str, ordinary: str, tmp_path: Path) -> None:
    """Which type a library gives a column then is its own: what it takes is compared."""
    assert seen(form, ordinary, tmp_path, first=True)[1] == []


# ---- ids


@pytest.mark.parametrize(
    ("form", "ordinary"), one_in(13, [one for one in CASES if one[1] in ("whole", "wide", "text")][:-1])
)
def test_one_odd_id_makes_nobody_else_another(form: str, ordinary: str, tmp_path: Path) -> None:
    """Those of a real type are refused, for it alone."""
    unit, met = Person("who", 2), set[str]()
    expected: Any = None
    for place, odd in enumerate((None, *ODD)):
        cells = ORDINARY[ordinary] if odd is None else [*ORDINARY[ordinary], ODD[odd]]
        column = built(form, cells, tmp_path)
        kind = "" if column is None else kind_of(form, column)
        if column is None or (kind in met and place % 6):
            continue
        met.add(kind)
        numbers = built(form, [*range(len(cells))], tmp_path)
        found = read(kept_in(form, {"who": column, "place": numbers}, tmp_path, f"ids{place}"), {}, unit)
        expected = expected or (held(column), found)
        if found is None:
            shown = str(column.cat.categories.dtype).lower() if kind.startswith("category") else kind.lower()
            assert shown.startswith((*test_cells.REAL, "decimal256")), odd
            continue
        for known, shown, one, other in zip(expected[0], held(column), expected[1][0], found[0], strict=True):
            assert not as_it_was(known, shown) or not differs(one, other), odd


# ---- the engine's own types, one against the other

POWERS = [sign * 2**bits for bits in (7, 8, 15, 16, 31, 32, 53, 54, 60, 63, 64, 127) for sign in (1, -1)]
WHOLE = [
    0,
    1,
    2,
    7,
    -7,
    *(one + more for one in POWERS for more in (-1, 0, 1, 129)),
    10**18 - 1,
    10**38 - 1,
    1 - 10**38,
]
SMALL = ["0.00006103515625", "-0.00000095367431640625"]  # numbers only: as texts they could be written in two ways
REAL = [*SMALL, "0.5", "1.5", "2.5", "-2.5", "-0.5", "0.1", "-0.3333", "0.7767", "123456.789"]
MOMENT = [
    *("2020-02-03", "0001-01-01", "9999-12-31", "1969-12-31", "1955-03-01", "1970-01-01", "1700-01-01", "2262-04-11"),
    *("2020-02-03 04:05:06", "1969-12-31 23:59:59", "2020-02-03 04:05:06.5", "1969-12-31 23:59:59.999"),
    *("2020-02-03 04:05:06.000007", "1955-03-01 23:59:59.999999", "1955-03-01 23:59:59.999999999"),
    *("2020-02-29 23:59:59.999999999", "1969-12-31 23:59:59.999999999", "9999-12-31 23:59:59.999999"),
]
TEXT = ["é", "", "x", "true", "false", "1e3", "a\nb", '"', "[1]", "😀" * 250, "x" * 1000, "x" * 1001, "null", "a\\b"]
BITS = {"TINYINT": 7, "SMALLINT": 15, "INTEGER": 31, "BIGINT": 63, "HUGEINT": 127}
DECIMALS = [(4, 1), (9, 4), (15, 4), (15, 0), (16, 4), (18, 0), (19, 0), (20, 0), (38, 0), (38, 4), (38, 30)]
BARE = "JSON, not in quotes"
FRACTIONS = {"TIMESTAMP_S": 0, "TIMESTAMP_MS": 3, "TIMESTAMP": 6, "TIMESTAMP WITH TIME ZONE": 6, "TIMESTAMP_NS": 9}


def types_of(text: str) -> list[str]:
    """Every type that holds just what the text says: there a cell says the same."""
    always = ["VARCHAR", "BLOB", "JSON", "ENUM"]
    if text in ("true", "false"):
        return [*always, "BOOLEAN", BARE]
    if text in MOMENT:
        fraction, within = len(text.partition(".")[2]), "1678" < text < "2262-04-11"
        kinds = [kind for kind, most in FRACTIONS.items() if fraction <= most and (within or kind != "TIMESTAMP_NS")]
        return [*always, *kinds, *(["TIMESTAMPTZ_NS"] if within else []), *(["DATE"] if len(text) == 10 else [])]
    try:
        number = Decimal(text)
    except ArithmeticError:
        return always
    if text not in REAL and text not in map(str, WHOLE):
        return always
    whole, places = number == int(number), max(0, -int(number.as_tuple().exponent))
    signed = [kind for kind, bits in BITS.items() if whole and -(2**bits) <= number < 2**bits]
    unsigned = [f"U{kind}" for kind, bits in BITS.items() if whole and 0 <= number < 2 ** (bits + 1)]
    reals = ["FLOAT"] if abs(number) < 2**128 and Decimal(float(np.float32(text))) == number else []
    reals += ["DOUBLE"] if Decimal(float(text) if whole else repr(float(text))) == number else []
    decimals = [f"DECIMAL({n},{s})" for n, s in DECIMALS if places <= s and abs(number) < 10 ** (n - s)]
    spoken = [*always, *([BARE] if abs(number) < 2**53 else [])]  # beyond, JSON holds doubles
    return [*(spoken if text not in SMALL else []), *signed, *unsigned, *reals, *decimals]


def said(kind: str, texts: list[str], declared: Declared | None) -> dict[str, tuple[Any, str, int]]:
    """What cells of a type read to, with type and hash. Of ids, the texts that choose rows."""
    physical = f"ENUM({', '.join(map(literal, texts))})" if kind == "ENUM" else kind.partition(", ")[0]
    cell = "encode(t)" if kind == "BLOB" else f"CAST(t AS {physical})"
    written = canonical._canonical("x", declared, physical)
    found = written if declared is not None else f"CAST({written} AS VARCHAR)"
    listed = ", ".join(
        f"({i}, {literal(json.dumps(text) if kind == 'JSON' else text)})" for i, text in enumerate(texts)
    )
    rows = (
        maker()
        .execute(
            f"SELECT c, typeof(c), hash(c) FROM (SELECT i, {found} AS c FROM "
            f"(SELECT i, {cell} AS x FROM (VALUES {listed}) AS v(i, t))) ORDER BY i"
        )
        .fetchall()
    )
    return dict(zip(texts, rows, strict=True))


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@pytest.mark.parametrize("declared", [*DECLARED, "id"])
def test_a_value_reads_and_hashes_alike_in_every_type_that_holds_it(declared: str) -> None:
    holding: dict[str, list[str]] = {}
    for text in dict.fromkeys([*map(str, WHOLE), *REAL, *MOMENT, *TEXT]):
        for kind in types_of(text):
            holding.setdefault(kind, []).append(text)
    column = DECLARED.get(declared)
    # Ids of a real type are refused, and in JSON one with a point is nobody's.
    kinds = [kind for kind in holding if column is not None or kind not in {*canonical.REAL, BARE}]
    expected: dict[str, tuple[str, tuple[Any, str, int]]] = {}
    told = [
        f"{text} in {kind}: {found}; in {expected[text][0]}: {expected[text][1]}"
        for kind in kinds
        for text, found in said(kind, holding[kind], column).items()
        if differs(expected.setdefault(text, (kind, found))[1], found)
    ]
    assert told == []
    assert len(kinds) >= 32
