"""SmartNoise #201: values were clamped when they were read and multiplied afterwards, past the certified bound.

Rule: the clamp is the last step before SUM, and its bounds are those of the whole expression.
"""

from fractions import Fraction

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.kernel.cost import Cost
from sfumato.schema.table import Schema
from tests.emitter import arrange
from tests.engines.brute_force import twin
from tests.museum.room import certified_question, integers

ENDS = [-(10**12), -1, 0, 1, 10**12]
ROWS = pa.table({"row": range(25), "x": [x for x in ENDS for _ in ENDS], "y": [float(y) for _ in ENDS for y in ENDS]})
SCHEMA = Schema("people", sf.Row(), {"row": sf.Int(0, 24), "x": sf.Int(0, 1), "y": sf.Float(-2, 3)})
CALLS = ["SUM(x * 1000)", "SUM(1000 * (x + x))", "SUM(-x * y)", "SUM(y * y)", "SUM(y / 0.001)", "SUM(x - 1000 * y)"]


@pytest.mark.parametrize("call", CALLS)
def test_no_row_moves_a_sum_of_an_expression_further_than_certified(call: str) -> None:
    question = f"SELECT row, {call} FROM people GROUP BY row"
    certified = certified_question(question, SCHEMA, Cost("epsilon", Fraction(1)))
    steps = [abs(step) for (step,) in integers(certified.plan, SCHEMA, ROWS)]
    assert max(steps) == certified.releases[0].sensitivity.l1


def test_a_clamp_before_the_arithmetic_is_flagged() -> None:
    """The twin clamps x to the bounds of the sum and multiplies what is left."""
    certified = certified_question("SELECT SUM(x * 1000) FROM people", SCHEMA, Cost("epsilon", Fraction(1)))
    early = twin(
        ("def on_lattice(self, node: Expression, lattice: Lattice) -> str:", "def on_lattice(self, node, lattice):\n"
         "        if isinstance(node, Arithmetic):\n"
         "            return f'1000 * {self.on_lattice(node.left, lattice)}'"),
    )  # fmt: skip
    engine = DuckDBEngine(ROWS, SCHEMA)
    moved = arrange(certified.plan, engine.run(early(certified.plan, SCHEMA)))[0][0]
    assert moved > certified.releases[0].sensitivity.l1
