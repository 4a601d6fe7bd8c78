"""What a choice among questions may need of memory and time, and what an engine may be given for it."""

from fractions import Fraction

import pyarrow as pa
import pytest

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.sql.expressions import Writer
from sfumato.plan.expressions import Column, Cross, Grid, ListedKey, Pick, RangeKey
from sfumato.plan.nodes import MOST_DIVIDED, Choose, Gap, Magnitudes, Question
from sfumato.plan.work import Scale
from sfumato.schema.columns import Float
from sfumato.schema.table import Schema
from sfumato.schema.unit import Row

CLASSES = ListedKey(Column("c"), ("a", "b"))
SCHEMA = Schema("data", Row(), {"x": Float(0, 1)})


def test_scores_need_no_more_memory_than_is_there() -> None:
    wide = RangeKey(Column("x"), 0, (1 << 11) - 1)
    each = tuple(range(wide.size))
    assert Choose((wide,), CLASSES, (Question(0, each),)).work == MOST_DIVIDED
    with pytest.raises(ValueError, match="fewer"):
        Choose((wide,), CLASSES, (Question(0, each), Question(0, (0,) * wide.size)))


def test_a_table_has_cells() -> None:
    for table in (ListedKey(Column("c"), ()), Magnitudes(Column("x"), 0, 4)):
        with pytest.raises(ValueError, match="cells"):
            Choose((table,), None, (Gap(0, ()),), "gap")  # type: ignore[arg-type]


def test_no_cell_of_a_grid_lets_a_number_by_cell_fail() -> None:
    """Where the ends of a grid are finer than doubles, the number of a cell may be the last that 32 bits hold."""
    step = Fraction(1024, (1 << 31) - 1)
    middle = (1 << 62) + 512
    grid = Grid(Column("x"), middle - step / 4, middle + 3 * step / 4, 1)
    schema = Schema("data", Row(), {"x": Float(0, 1)})
    engine = DuckDBEngine(pa.table({"x": [1.0, float((1 << 62) + 1024), None, float("nan")]}), schema)
    written = Writer(schema, engine.dialect).value(Pick(grid, (7,)))
    found = [row[0] for row in engine.run(f"SELECT {written} FROM data AS t")]
    engine.close()
    assert sorted(found, key=str) == [7, None, None, None]


def test_a_grid_among_crossed_cells_is_weighed_as_often_as_it_is_written() -> None:
    grid = Grid(Column("x"), Fraction(0), Fraction(1), 2)
    inner = Pick(grid, (0, 1))
    crossed = Pick(Cross((Grid(inner, Fraction(0), Fraction(1), 2),)), (0, 1))
    engine = DuckDBEngine(pa.table({"x": [0.5]}), SCHEMA)
    copies = Writer(SCHEMA, engine.dialect).value(crossed).count('t."x"')
    engine.close()
    assert Scale(SCHEMA).of(crossed).nodes >= copies
