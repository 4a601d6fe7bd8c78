"""How plans are written out: as `json` would, to the letter, and no two that differ alike."""

import json
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato.plan import writing
from sfumato.plan.expressions import Column, Comparison, IsNull
from sfumato.plan.nodes import Choose, ListedKey, Question
from sfumato.plan.sources import Kept, Rows
from sfumato.plan.writing import Shared, spelt_out
from tests.plan.samples import SIDES, every_plan, measured, plan


def plain(value: Any) -> Any:
    """What is written of a value, without any haste."""
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, date):
        return {"day": value.isoformat()}
    if not is_dataclass(value):
        return value
    said = {field.name: (getattr(value, field.name), field.default) for field in fields(value)}
    named = {name: plain(one) for name, (one, usual) in said.items() if (type(one), one) != (type(usual), usual)}
    return {"node": type(value).__name__, **named}  # type: ignore[union-attr]


def as_json(value: Any) -> str:
    return json.dumps(plain(value), sort_keys=True, separators=(",", ":"))


def test_what_is_derived_of_a_node_is_none() -> None:
    """It would have the node's name and digest, and something else in it each time it is looked at."""

    class Derived(Rows):
        __slots__ = ()

    derived = Derived("people", None, ())
    with pytest.raises(TypeError, match="Derived has no place in a plan"):
        spelt_out(derived)
    with pytest.raises(TypeError, match="Derived has no place in a plan"):
        plan(table=derived).digest()


def test_a_plan_is_written_as_json_would() -> None:
    for one in every_plan():
        for _ in range(2):
            assert spelt_out(one) == as_json(one)


@pytest.mark.parametrize(
    "value",
    [
        (),
        (1, "a", True, None),
        (1, Fraction(1, 3), "a"),
        ((1, 2), (), ((True,),)),
        'a "quoted"\n\\ text\x00 of ümlauts 𝄞 \ud800',
        (np.str_('"x"'), "y"),
        date(2024, 1, 31),
        (Fraction(-7, 3), Fraction(4), date(1, 1, 1)),
        -(10**40),
        Column('"}],'),
    ],
)
def test_a_value_is_written_as_json_would(value: Any) -> None:
    assert spelt_out(value) == as_json(value)


@dataclass(frozen=True, slots=True)
class Later:
    """A node as it might be one day, with a field more, in no order."""

    value: int
    more: Fraction = Fraction(1)


def test_a_field_that_is_added_later_changes_no_digest_while_it_is_at_its_default() -> None:
    assert spelt_out(Later(7)) == '{"node":"Later","value":7}'
    assert spelt_out(Later(7, Fraction(2))) == '{"more":"2/1","node":"Later","value":7}'
    assert spelt_out(Later(7, 1)) == '{"more":1,"node":"Later","value":7}'  # type: ignore[arg-type]


# ---- what is written once


def kept(value: Any) -> Kept:
    return Kept(Rows("people", Comparison("=", Column("age"), value), ()))


def choice(value: Any) -> Choose:
    return Choose((ListedKey(Column("age"), (value, 2)),), SIDES, (Question(0, (0, 1)),))


ALIKE = (1, True, Fraction(1))


@pytest.mark.parametrize(
    "plans",
    [
        [plan(table=kept(value)) for value in ALIKE],
        [plan(table=Kept(kept(value))) for value in ALIKE],
        [plan(table=Kept(Rows(kept(value), None, ()))) for value in ALIKE],
        [plan(**measured(choice(value), "permute_and_flip")) for value in ALIKE[:2]],
    ],
    ids=["kept", "kept twice", "inside of what is kept", "choices"],
)
def test_equal_parts_that_are_not_the_same_have_digests_of_their_own(plans: list[Any]) -> None:
    assert all(one == plans[0] for one in plans)
    for order in (plans, plans[::-1], plans):
        assert len({one.digest() for one in order}) == len(plans)
        assert [spelt_out(one) for one in order] == [as_json(one) for one in order]


def test_a_part_that_plans_share_is_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    node = writing._node
    monkeypatch.setattr(writing, "_node", lambda value: made.append(value) or node(value))  # type: ignore[func-returns-value]
    inner, asked = kept(5), choice(5)
    outer = Kept(Rows(inner, None, ()))
    for table in (inner, outer, outer):
        one = plan(table=table, **measured(asked, "permute_and_flip"))
        assert spelt_out(one) == as_json(one)
        assert spelt_out(replace(one, where=IsNull(Column("age")))) != spelt_out(one)
    shared = [value for value in made if isinstance(value, Shared)]
    assert [id(value) for value in shared] == [id(inner), id(asked), id(outer)]


def test_what_is_no_node_is_not_written() -> None:
    for value in (0.5, float("nan"), [1], b"x", Later, Shared(), (1, 0.5), (Later,)):
        with pytest.raises(TypeError):
            spelt_out(value)
