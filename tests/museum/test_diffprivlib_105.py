"""diffprivlib #105: a sensitivity was typed in with the lower bound twice; bounds that began at 0 got no noise at all.

Rule: derive sensitivities in one place, then brute-force them.
"""

import importlib

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.plan.expressions import Column
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import CentredSum, Sum
from sfumato.schema.table import Schema
from tests.kernel.laws import mutant
from tests.museum.room import bounds_of, integers, plan_of

SCHEMA = Schema("people", sf.Row(), {"x": sf.Int(-5, 5)})
LATTICES = [Lattice(low, high, 0) for low in range(-4, 5) for high in range(low + 1, 6)]
SUMS = [kind(Column("x"), lattice) for lattice in LATTICES for kind in (Sum, CentredSum)]


def measured() -> list[int]:
    """The most that one row far outside its bounds adds to each sum."""
    plan = plan_of(*SUMS)
    rows = [integers(plan, SCHEMA, pa.table({"x": [value]}))[0] for value in (-100, 100)]
    return [max(map(abs, pair)) for pair in zip(*rows, strict=True)]


def test_every_pair_of_bounds_is_certified_for_what_one_row_can_do() -> None:
    certified = bounds_of(plan_of(*SUMS), SCHEMA)
    assert certified == measured()
    assert min(certified) > 0


def test_the_old_slip_is_flagged() -> None:
    twin = mutant(
        importlib.import_module("sfumato.kernel.certify"),
        "most = max(abs(lattice.lower), abs(lattice.upper))",
        "most = max(abs(lattice.lower), abs(lattice.lower))",
    )
    one_to_five = plan_of(Sum(Column("x"), Lattice(1, 5, 0)))
    too_little = twin.certify(one_to_five, SCHEMA, "epsilon").releases[0].sensitivity.l1
    assert too_little < integers(one_to_five, SCHEMA, pa.table({"x": [100]}))[0][0]
    with pytest.raises(Refused, match="constant"):
        twin.certify(plan_of(Sum(Column("x"), Lattice(0, 5, 0))), SCHEMA, "epsilon")
