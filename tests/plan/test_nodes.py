"""Plans: frozen, counted, and written out without ambiguity."""

import dataclasses
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.plan import expressions, nodes, sources
from sfumato.plan.expressions import (
    Arithmetic,
    Case,
    Column,
    Day,
    IsNull,
    Matches,
    Negative,
    Number,
    String,
)
from sfumato.plan.nodes import (
    PLAN_LANGUAGE,
    CountRows,
    CountValues,
    Grid,
    ListedKey,
    Magnitudes,
    Measure,
    Plan,
    RangeKey,
    UnboundedSum,
)
from sfumato.plan.walk import parts
from sfumato.schema.unit import Person
from tests.plan.samples import AGE, DIFFERENT, LATTICE, TEST, every_plan, plan


def test_groups() -> None:
    assert plan().groups == 1
    assert plan(keys=(ListedKey(AGE, ("a", "b", "c")),)).groups == 3
    assert plan(keys=(ListedKey(AGE, ("a", "b", "c")), RangeKey(AGE, -2, 4))).groups == 21
    assert tuple(RangeKey(AGE, -1, 2).values) == (-1, 0, 1, 2)
    assert plan(keys=(RangeKey(AGE, 3, 2),)).groups == 0
    assert plan(keys=(RangeKey(AGE, 1, 1 << 62),)).groups == 1 << 62, "counted, not listed"


def test_every_difference_shows_in_the_digest() -> None:
    digests = {one.digest() for one in every_plan()}
    assert len(digests) == len(DIFFERENT)
    assert all(len(digest) == 64 and int(digest, 16) >= 0 for digest in digests)


def test_equal_plans_have_equal_digests() -> None:
    for one, again in zip(every_plan(), every_plan(), strict=True):
        assert one.digest() == again.digest()


def test_a_text_of_a_library_is_the_text_it_holds() -> None:
    assert dataclasses.replace(plan(), table=np.str_(plan().table)).digest() == plan().digest()


def test_the_list_of_differences_leaves_no_node_out() -> None:
    """A new kind of node, or a new field, belongs into DIFFERENT."""
    seen: set[type] = set()

    def walk(value: object) -> None:
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            seen.add(type(value))
            for field in dataclasses.fields(value):
                walk(getattr(value, field.name))
        elif isinstance(value, tuple):
            for item in value:
                walk(item)

    for one in every_plan():
        walk(one)
    known = {
        kind
        for module in (nodes, expressions, sources)
        for kind in vars(module).values()
        if isinstance(kind, type) and dataclasses.is_dataclass(kind) and kind.__module__.startswith("sfumato.plan")
    }
    assert known <= seen


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)
VALUES = st.one_of(TEXTS, st.integers(-5, 5), st.booleans())
FRACTIONS = st.fractions(-5, 5, max_denominator=5)
EXPRESSIONS = st.recursive(
    st.one_of(TEXTS.map(Column), FRACTIONS.map(Number), TEXTS.map(String)),
    lambda inner: st.one_of(inner.map(Negative), st.builds(Arithmetic, st.sampled_from("+-*/"), inner, inner)),
    max_leaves=4,
)
KEYS = st.one_of(
    st.builds(ListedKey, TEXTS.map(Column), st.lists(VALUES, max_size=3).map(tuple)),
    st.builds(RangeKey, TEXTS.map(Column), st.integers(-5, 5), st.integers(-5, 5)),
)
PLANS = st.builds(
    plan,
    table=TEXTS,
    where=st.none() | EXPRESSIONS.map(IsNull),
    keys=st.lists(KEYS, max_size=2).map(tuple),
    measures=st.lists(st.builds(Measure, EXPRESSIONS.map(CountValues), st.just("laplace"), FRACTIONS), max_size=2).map(
        tuple
    ),
)


def written(value: object) -> str:
    """A plan with the type of every part: what the digest must tell apart. 1 == True in Python, not here."""
    return repr(value)


@settings(deadline=None, derandomize=True, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(PLANS, PLANS)
def test_digests_are_equal_exactly_when_plans_are(one: Plan, two: Plan) -> None:
    assert (one.digest() == two.digest()) is (written(one) == written(two))


def test_shares_a_hair_apart_are_told_apart() -> None:
    """A double would not tell them apart."""
    shares = Fraction(1, 3), Fraction(1, 3) + Fraction(1, 10**30)
    assert len({plan(measures=(Measure(CountRows(), "laplace", share),)).digest() for share in shares}) == 2


@pytest.mark.parametrize("share", [0.5, float("nan"), None.__class__, b"x", [1]])
def test_what_has_no_place_in_a_plan_has_no_digest(share: Any) -> None:
    with pytest.raises(TypeError, match="no place"):
        plan(measures=(Measure(CountRows(), "laplace", share),)).digest()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Day("20240131"),
        lambda: Matches("like", Column("city"), "%" * 17),
        lambda: Magnitudes(Column("age"), 0, 0),
        lambda: Magnitudes(Column("age"), 0, 91),
        lambda: UnboundedSum(Magnitudes(Column("age"), 0, 8), Fraction(1)),
        lambda: Grid(Column("age"), Fraction(1), Fraction(1), 8),
        lambda: Grid(Column("age"), Fraction(0), Fraction(1), True),
        lambda: Grid(Column("age"), Fraction(0), Fraction(1), Fraction(5, 2)),  # type: ignore[arg-type]
        lambda: Grid(Column("age"), Fraction(0), Fraction(1), (1 << 18) + 1),
    ],
)
def test_a_node_that_exists_is_valid(make: Any) -> None:
    with pytest.raises(ValueError, match=r"written|short|octaves|not all of it|runs from"):
        make()


def test_nodes_are_frozen() -> None:
    for node in (plan(), AGE, TEST, Measure(CountRows(), "laplace", Fraction(1)), LATTICE):
        name = dataclasses.fields(node)[0].name
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(node, name, None)
        assert hash(node) == hash(dataclasses.replace(node))


# ---- what is stored outlives the package


def test_another_language_has_other_digests(monkeypatch: pytest.MonkeyPatch) -> None:
    before = plan().digest()
    monkeypatch.setattr("sfumato.plan.nodes.PLAN_LANGUAGE", PLAN_LANGUAGE + 1)
    assert plan().digest() != before


def test_a_digest_is_the_one_that_ledgers_keep() -> None:
    """If this fails, every stored answer is lost: count PLAN_LANGUAGE on, and say so in the CHANGELOG."""
    kept = Plan("people", Person("user_id", 2), None, (), (Measure(CountRows(), "laplace", Fraction(1, 2)),))
    assert PLAN_LANGUAGE == 4
    assert kept.digest() == "5ec63fc61a5c05a1ecd4847b02af1046f6eb457046349aeacaf474b86bdfc919"


def test_an_expression_shows_all_its_branches() -> None:
    case = Case(((TEST, Column("then")),), Column("otherwise"))
    assert {Column("then"), Column("otherwise")} <= set(parts(case))
    assert Column("then") in parts(Case(((TEST, Column("then")),), None))
