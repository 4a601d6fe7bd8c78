"""Questions that are chosen privately: scores on all small tables, and what a choice tells of one of their rows."""

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest

from sfumato.accounting.events import event
from sfumato.errors import Refused
from sfumato.kernel.cost import root_below
from sfumato.kernel.mechanisms.choice import Exponential, PermuteAndFlip
from sfumato.kernel.mechanisms.protocol import CellCounts, Tables
from sfumato.kernel.mechanisms.splits import GINI_STEPS, MOVED, QuestionChoice, scores
from sfumato.plan.expressions import Column
from sfumato.plan.nodes import Choose, Cross, Gap, Question, RangeKey
from tests.entropy import SeededEntropy
from tests.kernel.laws import chi_square
from tests.kernel.test_choice import counted, law

ONE = Fraction(1)
PAIR, OTHER, CLASS = (RangeKey(Column(name), 0, 1) for name in ("a", "b", "c"))
APART, TOGETHER = (0, 1), (0, 0)
SPLIT = (Question(0, APART), Question(1, APART), Question(0, TOGETHER))
DIVIDED = {score: Choose((PAIR, OTHER), CLASS, SPLIT, score) for score in ("gini", "max")}  # type: ignore[arg-type]
MODELS = Choose((PAIR, OTHER), None, (Gap(0, (2, 1)), Gap(1, (0, 3), -1), Gap(0, (0, 0), 1)), "gap")
EVERY = {**DIVIDED, "gap": MODELS}
KINDS = list(product((0, 1), repeat=3))  # the cell of a row in each table, and its class
Table = tuple[int, ...]  # how many rows there are of each kind


def tables_of(asked: Choose, table: Table) -> Tables:
    """As an engine would count these rows."""
    width = 1 if asked.classes is None else asked.classes.size
    found = []
    for place, cells in enumerate(asked.counted):
        dense = [0] * cells.size
        for kind, rows in zip(KINDS, table, strict=True):
            dense[kind[place] * width + (kind[2] if width > 1 else 0)] += rows
        found.append(counted(dense))
    return tuple(found)


def gini(counts: Sequence[int]) -> int:
    rows = sum(counts)
    return GINI_STEPS * sum(count**2 for count in counts) // rows - GINI_STEPS * rows if rows else 0


def by_hand(asked: Choose, table: Table) -> list[int]:
    """The scores as they are defined, row by row."""
    found = []
    for question in asked.questions:
        if isinstance(question, Gap):
            counts = [sum(n for kind, n in zip(KINDS, table, strict=True) if kind[question.table] == c) for c in (0, 1)]
            found.append(
                sum(abs(n - model) for n, model in zip(counts, question.model, strict=True)) - question.penalty
            )
            continue
        children: dict[int, list[int]] = {child: [0, 0] for child in question.children}
        for kind, rows in zip(KINDS, table, strict=True):
            children[question.children[kind[question.table]]][kind[2]] += rows
        found.append(sum(gini(own) if asked.score == "gini" else max(own) for own in children.values()))
    return found


def small_tables(most: int) -> list[Table]:
    chosen = (rows for count in range(most + 1) for rows in combinations_with_replacement(range(len(KINDS)), count))
    return [tuple(rows.count(kind) for kind in range(len(KINDS))) for rows in chosen]


@pytest.mark.parametrize("name", EVERY)
def test_scores_are_what_they_are_defined_as(name: str) -> None:
    asked, tables = EVERY[name], small_tables(4)
    found = scores(asked, [tables_of(asked, table) for table in tables])
    assert found.dtype == np.int64
    assert found.tolist() == [by_hand(asked, table) for table in tables]


def moves(asked: Choose, most: int) -> np.ndarray[Any, Any]:
    """What one row more does to each score of every small table."""
    tables = small_tables(most)
    place = {table: number for number, table in enumerate(tables)}
    found = scores(asked, [tables_of(asked, table) for table in tables])
    pairs = [
        (place[table], place[more])
        for table in tables
        if sum(table) < most
        for kind in range(len(KINDS))
        if (more := (*table[:kind], table[kind] + 1, *table[kind + 1 :]))
    ]
    fewer, more_rows = (list(side) for side in zip(*pairs, strict=True))
    return np.asarray(found[more_rows] - found[fewer])


@pytest.mark.parametrize("name", EVERY)
def test_one_row_moves_every_score_by_no_more_than_is_said_and_not_the_wrong_way(name: str) -> None:
    moved, (most, monotone) = moves(EVERY[name], 6), MOVED[EVERY[name].score]
    assert np.abs(moved).max() <= most
    if monotone:
        assert (moved <= 0).all() or (moved >= 0).all()
        assert moved.any()
    else:
        assert (moved.min(), moved.max()) == (-most, most)
        assert ((moved > 0).any(axis=1) & (moved < 0).any(axis=1)).any(), "one row moves two scores apart"


def test_the_largest_fall_of_gini_is_reached_and_no_count_is_too_large() -> None:
    """One row of another class among many of one: up to as many as an engine counts, where squares pass 64 bits."""
    asked = DIVIDED["gini"]
    for rows in (1, 2, 127, 128, 129, 10**6, 2**28, 2**32 - 2):
        pure = scores(asked, [tables_of(asked, (rows, *[0] * 7))])[0]
        mixed = scores(asked, [tables_of(asked, (rows, 1, *[0] * 6))])[0]
        assert pure.tolist() == [0, 0, 0]
        fall = -gini((rows, 1))
        assert mixed.tolist() == [-fall] * 3
        assert fall == -(-2 * GINI_STEPS * rows // (rows + 1)) <= 2 * GINI_STEPS
        assert (fall == 2 * GINI_STEPS) == (rows >= 2 * GINI_STEPS)
    half = 2**31
    mixed = scores(asked, [tables_of(asked, (half, half, *[0] * 6))])[0]
    assert mixed.tolist() == [-GINI_STEPS * half] * 3


# ---- what a choice tells


def laws_of(mechanism: QuestionChoice, found: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The chance of each of three questions, for every row of scores; by other formulas than the draws use."""
    heads = np.exp(float(mechanism.law.rate) * (found - found.max(axis=1, keepdims=True)))
    if isinstance(mechanism.law, Exponential):
        return np.asarray(heads / heads.sum(axis=1, keepdims=True))
    assert found.shape[1] == 3
    other, third = np.roll(heads, 1, axis=1), np.roll(heads, 2, axis=1)
    return np.asarray(heads * (1 - (other + third) / 2 + other * third / 3))


def worst_losses(mechanism: QuestionChoice, most: int) -> tuple[float, float]:
    """Over all tables of at most `most` rows and one row more: the largest loss, and the largest range of one."""
    asked, tables = mechanism.asked, small_tables(most)
    place = {table: number for number, table in enumerate(tables)}
    chances = laws_of(mechanism, scores(asked, [tables_of(asked, table) for table in tables]))
    loss = spread = 0.0
    for kind in range(len(KINDS)):
        fewer = [table for table in tables if sum(table) < most]
        more = [(*table[:kind], table[kind] + 1, *table[kind + 1 :]) for table in fewer]
        ratios = np.log(chances[[place[one] for one in fewer]] / chances[[place[one] for one in more]])
        loss = max(loss, float(np.abs(ratios).max()))
        spread = max(spread, float((ratios.max(axis=1) - ratios.min(axis=1)).max()))
    return loss, spread


ROUNDED = 1 + 1e-9


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("most", [5, pytest.param(9, marks=pytest.mark.exhaustive)])
def test_no_row_of_any_small_table_is_told_more_than_paid_for(name: str, most: int) -> None:
    flip = QuestionChoice.for_share(ONE, "epsilon", 1, 1, EVERY[name])
    assert flip.cost("epsilon") == 1
    assert 0.4 < worst_losses(flip, most)[0] <= ROUNDED
    chosen = QuestionChoice.for_share(Fraction(1, 8), "rho", 1, 1, EVERY[name])
    assert chosen.law.epsilon == 1
    loss, spread = worst_losses(chosen, most)
    assert max(loss, spread) <= ROUNDED
    assert spread > 0.6


@pytest.mark.parametrize("currency", ["epsilon", "rho"])
@pytest.mark.parametrize(("name", "wrong"), [("gini", (GINI_STEPS, True)), ("gap", (1, True))])
def test_a_twin_with_twice_the_rate_is_flagged(name: str, wrong: tuple[int, bool], currency: Any) -> None:
    """ε/Q in place of ε/2Q, and gaps that are taken for monotone."""
    right = QuestionChoice.for_share(ONE if currency == "epsilon" else Fraction(1, 8), currency, 1, 1, EVERY[name])
    law_ = type(right.law)(right.law.epsilon, Fraction(wrong[0]), wrong[1])
    with pytest.raises(ValueError, match="otherwise"):
        QuestionChoice(law_, 1, 1, EVERY[name])
    twin = QuestionChoice.for_share(ONE, currency, 1, 1, EVERY[name])
    object.__setattr__(twin, "law", law_)
    assert max(worst_losses(twin, 5)) > 1.1


# ---- prices, shapes, draws


def test_a_row_has_its_price_and_a_unit_that_of_its_rows() -> None:
    flip = QuestionChoice.for_share(Fraction(1, 2), "epsilon", 3, 5, DIVIDED["gini"])
    assert flip.law == PermuteAndFlip(Fraction(1, 6), Fraction(128), monotone=True)
    assert flip.law.rate == Fraction(1, 6 * 128)
    assert (flip.cost("epsilon"), flip.family) == (Fraction(1, 2), "splits")
    chosen = QuestionChoice.for_share(Fraction(1, 2), "rho", 3, 5, MODELS)
    assert chosen.law == Exponential(root_below(Fraction(4, 5)), ONE, monotone=False)
    assert chosen.law.rate == chosen.law.epsilon / 2
    assert chosen.cost("rho") == 5 * chosen.law.epsilon**2 / 8 <= Fraction(1, 2)


def test_records_are_read_at_their_price() -> None:
    flip = QuestionChoice.for_share(Fraction(1, 2), "epsilon", 3, 5, DIVIDED["gini"])
    assert event(flip.event()).epsilon == Fraction(1, 2)
    for squares in (5, 9):
        chosen = QuestionChoice.for_share(Fraction(1, 50), "rho", 3, squares, DIVIDED["gini"])
        price = event(chosen.event()).rho
        assert chosen.cost("rho") <= price < chosen.cost("rho") + Fraction(1, 1 << 120)


def test_what_is_not_a_table_for_each_is_refused() -> None:
    asked = DIVIDED["max"]
    mechanism = QuestionChoice.for_share(ONE, "epsilon", 1, 1, asked)
    right = tables_of(asked, (1, 0, 2, 0, 0, 0, 0, 3))
    mechanism.check(right)
    wrong: list[Any] = [right[0], right[:1], (*right, right[0]), (right[0], counted([0] * 4 + [1])), (right[0], 3), 7]
    for entry in wrong:
        with pytest.raises(Refused, match=r"tables|cells"):
            mechanism.check(entry)


@pytest.mark.parametrize("currency", ["epsilon", "rho"])
@pytest.mark.parametrize("draws", [6_000, pytest.param(500_000, marks=pytest.mark.exhaustive)])
def test_every_group_is_chosen_in_by_its_own_scores(currency: Any, draws: int) -> None:
    """With the larger number a million draws; both laws, to exact chances."""
    asked = DIVIDED["gini"]
    share = ONE if currency == "epsilon" else Fraction(1, 8)
    mechanism = QuestionChoice.for_share(share, currency, 1, 1, asked)
    tables = [(3, 0, 1, 0, 0, 2, 0, 0), (0, 0, 0, 0, 0, 0, 0, 0)]
    groups = [tables_of(asked, table) for table in tables]
    drawn = np.array(mechanism.draw(groups * draws, SeededEntropy(f"splits {currency}")))
    for place, table in enumerate(tables):
        exact = law(mechanism.law, by_hand(asked, table))
        assert chi_square(np.bincount(drawn[place::2], minlength=3), [float(chance) for chance in exact]) > 1e-6
    twin = QuestionChoice.for_share(2 * share, currency, 1, 1, asked)
    wrong = [float(chance) for chance in law(twin.law, by_hand(asked, tables[0]))]
    assert chi_square(np.bincount(drawn[::2], minlength=3), wrong) < 1e-6


def test_losses_of_several_groups_add_up_to_what_the_rows_of_a_unit_cost() -> None:
    """Two rows in two groups, each the one that matters most there."""
    asked = Choose((PAIR, OTHER), CLASS, (SPLIT[0], *[SPLIT[1]] * 6))
    pure = (40, 0, 0, 0, 40, 0, 0, 0)
    for currency, share in (("epsilon", ONE), ("rho", Fraction(1, 8))):
        mechanism = QuestionChoice.for_share(share, currency, 2, 2, asked)  # type: ignore[arg-type]
        # A row of class 1 that the first question puts with 40 others and the second with none.
        one, two = (by_hand(asked, table) for table in (pure, (40, 0, 0, 1, 40, 0, 0, 0)))
        with localcontext() as context:
            context.prec = 40
            ratios = [(p / q).ln() for p, q in zip(law(mechanism.law, one), law(mechanism.law, two), strict=True)]
            lost = 2 * max(map(abs, ratios))
            cost = mechanism.cost("epsilon")
            assert Decimal("0.7") * cost.numerator / cost.denominator < lost
            assert lost <= Decimal(cost.numerator) / Decimal(cost.denominator)


# ---- nodes that exist are valid

HALVES = Question(0, APART)
BAD: dict[str, Any] = {
    "no table": lambda: Choose((), CLASS, (HALVES,)),
    "a table twice": lambda: Choose((PAIR, PAIR), CLASS, (HALVES,)),
    "no question": lambda: Choose((PAIR,), CLASS, ()),
    "no classes": lambda: Choose((PAIR,), None, (HALVES,)),
    "a model with classes": lambda: Choose((PAIR,), CLASS, (Gap(0, (1, 1)),), "gap"),
    "an unknown score": lambda: Choose((PAIR,), CLASS, (HALVES,), "information"),  # type: ignore[arg-type]
    "a question to no table": lambda: Choose((PAIR,), CLASS, (Question(1, APART),)),
    "a question to the last table": lambda: Choose((PAIR,), CLASS, (Question(-1, APART),)),
    "too few children": lambda: Choose((PAIR,), CLASS, (Question(0, (0,)),)),
    "children of a real": lambda: Choose((PAIR,), CLASS, (Question(0, (0, 1.0)),)),  # type: ignore[arg-type]
    "a child below none": lambda: Choose((PAIR,), CLASS, (Question(0, (0, -1)),)),
    "a child beyond the cells": lambda: Choose((PAIR,), CLASS, (Question(0, (0, 2)),)),
    "a gap among questions": lambda: Choose((PAIR,), CLASS, (HALVES, Gap(0, (1, 1)))),
    "a model of another size": lambda: Choose((PAIR,), None, (Gap(0, (1,)),), "gap"),
    "a model beyond all rows": lambda: Choose((PAIR,), None, (Gap(0, (1, 2**32 + 1)),), "gap"),
    "a penalty beyond all rows": lambda: Choose((PAIR,), None, (Gap(0, (1, 1), -(2**32) - 1),), "gap"),
    "a model of reals": lambda: Choose((PAIR,), None, (Gap(0, (1, 1.5)),), "gap"),  # type: ignore[arg-type]
    "too many cells with classes": lambda: Choose((RangeKey(Column("a"), 1, 1 << 17),), Cross((CLASS, OTHER)), ()),
}


@pytest.mark.parametrize("name", BAD)
def test_a_choice_that_cannot_be_scored_does_not_exist(name: str) -> None:
    with pytest.raises(ValueError, match=r"question|rows|cells|product"):
        BAD[name]()


def test_cells_that_no_question_asks_about_are_counted_all_the_same() -> None:
    asked = Choose((PAIR, OTHER), CLASS, (HALVES,))
    empty = CellCounts(np.array([], dtype=np.int64), np.array([], dtype=np.int64))
    assert scores(asked, [(counted([4, 0, 0, 4]), empty)]).tolist() == [[0]]
