"""The place of a value among declared texts is written in two ways; they must be one."""

import duckdb
import pytest

from sfumato.engines.duckdb.dialect import DUCKDB, FEW
from sfumato.engines.sql.phrases import text

ODD = ("a", "A", "a ", "", "'", '"', "\u00e9", "e\u0301", "NULL", "0", "true", "a" * 100, "\x00", "\U0001f600", "b\nc")


def places(listed: tuple[str, ...], *, plain: bool) -> list[int | None]:
    """Of every odd text, one that is not declared, and NULL: as the position of a column, or of an expression."""
    rows = ", ".join(f"({place}, {text(value)})" for place, value in enumerate([*ODD, "elsewhere"]))
    written = DUCKDB.position('t."x"' if plain else '(t."x")', listed)
    with duckdb.connect() as connection:
        found = connection.execute(f'SELECT {written} FROM (VALUES {rows}, (99, NULL)) AS t("n", "x") ORDER BY t."n"')
        return [place for (place,) in found.fetchall()]


@pytest.mark.parametrize("kind", ["UTINYINT", "INTEGER", "BIGINT"])
def test_a_number_is_found_at_every_place_whatever_type_that_has(kind: str) -> None:
    """One more than the last place of 256 does not fit 8 bits."""
    numbers = [3 * place - 300 for place in range(256)]
    written = DUCKDB.element(numbers, "p")
    with duckdb.connect() as connection:
        rows = f"SELECT CAST(p AS {kind}) AS p FROM range(256) AS r(p) UNION ALL SELECT NULL"
        found = connection.execute(f"SELECT {written} FROM ({rows}) AS t ORDER BY p NULLS LAST").fetchall()
    assert [number for (number,) in found] == [*numbers, None]


@pytest.mark.parametrize("first", range(len(ODD) - FEW + 1))
@pytest.mark.parametrize("many", [1, 2, FEW])
def test_both_ways_find_the_same_place(first: int, many: int) -> None:
    listed = ODD[first : first + many]
    expected = [listed.index(value) if value in listed else None for value in [*ODD, "elsewhere", None]]
    assert places(listed, plain=True) == places(listed, plain=False) == expected


@pytest.mark.parametrize(
    ("value", "many", "one"), [('t."x"', FEW, True), ('t."x"', FEW + 1, False), ("f(x)", 2, False)]
)
def test_what_is_computed_stands_once(value: str, many: int, one: bool) -> None:
    """CASE would compute it anew for every text that it is compared with."""
    written = DUCKDB.position(value, ODD[:many])
    assert written.startswith("CASE ") is one
    assert written.count(value) == 1


def test_the_name_of_a_column_is_no_expression() -> None:
    assert DUCKDB.position('t."a" || t."b"', ("x",)).startswith("CAST(enum_code(")
    assert DUCKDB.position('t."a""b"', ("x",)).startswith("CASE ")
