"""OpenDP #314: `d_in * (U - L) / 2` in whole numbers rounded down, half a step below the true sensitivity.

Rule: every division names its direction, and odd widths are tried.
"""

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.plan.expressions import Column
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import CentredSum
from sfumato.schema.table import Schema
from tests.museum.room import bounds_of, integers, plan_of

WIDTHS = [Lattice(low, low + width, 0) for low in (-7, -3, 0, 2) for width in range(1, 8)]


@pytest.mark.parametrize("unit", [sf.Row(), sf.Person("who", 3, 1)], ids=["row", "person"])
def test_half_of_an_odd_width_is_rounded_up(unit: sf.Row | sf.Person) -> None:
    schema = Schema("people", unit, {"x": sf.Int(-9, 9)})
    plan = plan_of(*(CentredSum(Column("x"), lattice) for lattice in WIDTHS), unit=unit)
    rows = unit.max_rows if isinstance(unit, sf.Person) else 1
    certified = bounds_of(plan, schema)
    assert certified == [rows * -(-(lattice.upper - lattice.lower) // 2) for lattice in WIDTHS]
    ends = [integers(plan, schema, pa.table({"x": [end] * rows, "who": [1] * rows}))[0] for end in (-99, 99)]
    measured = [max(map(abs, pair)) for pair in zip(*ends, strict=True)]
    assert measured == certified
    rounded_down = [rows * ((lattice.upper - lattice.lower) // 2) for lattice in WIDTHS]
    assert any(moved > claim for moved, claim in zip(measured, rounded_down, strict=True))


def test_bounds_that_miss_the_lattice_are_rounded_outward() -> None:
    for lower, upper in ((0.1, 0.7), (-0.3, 0.2), (1e-9, 1e9), (-5.5, -0.1)):
        low, high = (sf.Float(lower, upper).lower, sf.Float(lower, upper).upper)
        lattice = Lattice.covering(low, high, whole=False)
        assert lattice.lower * lattice.step <= low
        assert lattice.upper * lattice.step >= high
