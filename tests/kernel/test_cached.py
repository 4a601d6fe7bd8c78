"""What is worked out once is for all questions: nobody can write to it, and so change what later ones cost."""

from fractions import Fraction
from typing import Any

import pytest

from sfumato.kernel.lines import Line, _edges
from sfumato.kernel.mechanisms.rank_bars import measuring
from sfumato.kernel.mechanisms.rank_lines import _order
from sfumato.kernel.mechanisms.running import _roots
from sfumato.kernel.widths import round_cells

LINE = Line(64, Fraction(-2), Fraction(1, 16), Fraction(1))
WORKED_OUT = {
    "roots": lambda: _roots(8),
    "edges": lambda: _edges(LINE),
    "order": lambda: _order(8),
    "round cells": lambda: round_cells(Fraction(0), Fraction(1, 100), 1 << 20),
    "measuring": lambda: measuring(4, Fraction(0))[0],
}


@pytest.mark.parametrize("name", WORKED_OUT)
def test_nobody_writes_to_what_is_worked_out_once(name: str) -> None:
    kept: Any = WORKED_OUT[name]()
    assert len(kept) > 1
    with pytest.raises(ValueError, match="read-only"):
        kept[0] += 1
    assert WORKED_OUT[name]() is kept or name == "measuring"
