"""Closed lists of the ring: whatever is not on one is refused, or has no answer, also where no plan can hold it."""

from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from sfumato import door
from sfumato.engines.arrange import _sums
from sfumato.engines.copies import Copies
from sfumato.engines.sql.counting import _cell
from sfumato.errors import Refused, SfumatoError, UsageError
from sfumato.kernel import ceilings, widths
from sfumato.kernel.mechanisms.additive import Additive
from sfumato.kernel.mechanisms.keys import KeySelection
from sfumato.kernel.mechanisms.ranks import RankChoice
from sfumato.kernel.shape import _are_ranks
from sfumato.ledger.releases import _part
from sfumato.plan import totality, work, writing
from sfumato.plan.expressions import Column, String, replaces_shorter
from sfumato.plan.nodes import Choose, CountRows, Plan
from sfumato.plan.sources import derive, table_caps
from sfumato.query.sql import one_statement
from sfumato.schema.columns import Identifier, Int
from sfumato.schema.table import Schema
from sfumato.schema.unit import Row

SCHEMA = Schema("people", Row(), {"age": Int(0, 9)})
STRANGER: Any = object()
SCALE = work.Scale(SCHEMA)
QUESTION: Any = SimpleNamespace(table=0)
KEYS = KeySelection(Fraction(1), Fraction(1, 100), 1)


def bare(kind: Any) -> Any:
    """Of a kind, with nothing in it: what is asked here looks at its argument first."""
    return object.__new__(kind)


NEVER: dict[str, Callable[[], object]] = {
    "work of a source": lambda: work.work_of_source(STRANGER, SCHEMA, set()),
    "work of a key": lambda: work._key(STRANGER, SCALE, placed=False),
    "work of what is counted": lambda: work._counted(STRANGER, STRANGER, SCALE),
    "what a node is made of": lambda: SCALE._parts(STRANGER),
    "the place in a line": lambda: SCALE._placed(STRANGER, alone=True),
    "rows of a source": lambda: ceilings._check_source(STRANGER, SCHEMA),
}
REFUSED: dict[str, Callable[[], object]] = {
    "a line of cells": lambda: totality.check_cells(STRANGER, SCHEMA),
    "numbers in cells": lambda: bare(Additive)._measured(STRANGER, 3),
    "cells of ranks": lambda: bare(RankChoice).check(STRANGER),
    "the number of a key's people": lambda: KEYS.check(STRANGER),
    "keys that are measured": lambda: KEYS.draw([], STRANGER),
    "keys in epsilon": lambda: KEYS.cost("epsilon"),
}
NOTHING: dict[str, Callable[[], object]] = {
    "the deviation of a law": lambda: widths.deviation(STRANGER),
    "the error of a law": lambda: widths.error(STRANGER, 0.95),
    "a question that is none": lambda: Choose._fits(SimpleNamespace(tables=(SimpleNamespace(size=2),)), QUESTION),
    "caps of a source": lambda: table_caps(STRANGER, SCHEMA),
}


@pytest.mark.parametrize("name", NEVER)
def test_what_no_list_holds_ends_in_an_error(name: str) -> None:
    with pytest.raises(AssertionError):
        NEVER[name]()


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_list_holds_is_refused(name: str) -> None:
    with pytest.raises(SfumatoError):
        REFUSED[name]()


@pytest.mark.parametrize("name", NOTHING)
def test_what_no_list_holds_has_no_answer(name: str) -> None:
    assert NOTHING[name]() is None


def test_what_is_of_another_kind_is_told_apart() -> None:
    assert not totality.agrees(Column("age"), Identifier(), SCHEMA)
    assert not replaces_shorter(Column("age"), String("a"))
    assert not _are_ranks("no positions", STRANGER)
    with pytest.raises(TypeError):
        _part(1.5)
    with pytest.raises(TypeError, match="has no place in a plan"):
        writing.spelt_out(1.5)
    with pytest.raises(UsageError):
        one_statement(5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="counts no different values"):
        _cell(SimpleNamespace(cells=None, counted=(CountRows(),)), STRANGER)  # type: ignore[arg-type]


def test_sums_of_a_group_that_nobody_asked_for_are_left_out() -> None:
    """An engine may name cells of other groups."""
    counting: Any = SimpleNamespace(size=2, counted=(CountRows(),))
    both = _sums(counting, [(7, 0, 5), (1, 1, 3)], [(1, 0)], 1)
    assert repr(both) == repr(_sums(counting, [(1, 1, 3)], [(1, 0)], 1))


def test_copies_of_another_engine_are_refused_before_anything_is_paid() -> None:
    with pytest.raises(ValueError, match="of another engine"):
        door.answer(STRANGER, STRANGER, STRANGER, STRANGER, Copies(object()))  # type: ignore[arg-type]


class Liar(str):
    """A text that is equal to every other."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash("people")


def test_a_table_is_named_by_a_plain_text() -> None:
    assert derive("people", SCHEMA) is not None
    with pytest.raises(Refused):
        derive(Liar("secrets"), SCHEMA)


def test_caps_of_a_stranger() -> None:
    plan: Any = bare(Plan)
    object.__setattr__(plan, "table", "people")
    object.__setattr__(plan, "unit", STRANGER)
    assert plan.asked_caps is None
