"""Ends that are found: what one row moves, the exact law of small releases, prices, and twins that fail."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction as F
from functools import cache
from itertools import combinations_with_replacement, pairwise, product
from math import inf, log
from typing import Any

import numpy as np
import pytest

from sfumato.accounting.events import Event, event
from sfumato.audit import laws
from sfumato.errors import Refused
from sfumato.kernel.certify import MOST_GROUPS, certify
from sfumato.kernel.gate import Receipt, release
from sfumato.kernel.lines import Line
from sfumato.kernel.mechanisms import found_bounds, found_ends
from sfumato.kernel.mechanisms.additive import Additive, DiscreteGaussian, DiscreteLaplace
from sfumato.kernel.mechanisms.found_ends import HALF_SQUARE, MOST_AWAY, FoundEnds, rows_above, rows_between
from sfumato.kernel.mechanisms.protocol import CellCounts
from sfumato.kernel.shape import fits
from sfumato.plan.expressions import Column
from sfumato.plan.nodes import BetweenEnds, Grid
from tests.entropy import SeededEntropy
from tests.kernel.laws import chi_square, mutant
from tests.kernel.plans import BY_SEX, PERSON, measure, plan, schema

THIRD = F(33, 100)
WIDE = Line(1 << 18, F(-63), F(126, 1 << 18), F(1, 1 << 30))
TINY = Line(4, F(-2), F(1), F(1))  # edges 0 to 4, and 0 in the middle
FROM_0 = Line(3, F(0), F(1), F(1))
KINDS = ("bins", "totals", "moments")


def cells(places: Any) -> CellCounts:
    found, counts = np.unique(np.array(places, dtype=np.int64), return_counts=True)
    return CellCounts(found, counts.astype(np.int64))


def mechanism(
    wanted: Any = "bins", *, share: Any = 1, rows: int = 1, currency: Any = "epsilon", line: Line = WIDE, bins: int = 4
) -> FoundEnds:
    bins = 1 if wanted == "moments" else bins
    return FoundEnds.for_share(F(share), currency, rows, rows**2, line, THIRD, wanted, bins)


# ---- what one row moves


def neighbours(size: int, most: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    for count in range(most):
        for less in combinations_with_replacement(range(size), count):
            yield from ((tuple(sorted((*less, place))), less) for place in range(size))


def test_one_row_moves_every_rank_and_one_count_by_one_at_most() -> None:
    """All rows there are, beside all others of a small line; all cuts."""
    edges = TINY.edges()
    assert edges.tolist() == [0, 1, 2, 3, 4]
    for more, less in neighbours(4, 4):
        above = [rows_above(cells(places), edges) for places in (more, less)]
        assert set((above[0] - above[1]).tolist()) <= {0, 1}
        assert set(((above[0][0] - above[0]) - (above[1][0] - above[1])).tolist()) <= {0, 1}
        assert above[0].tolist() == [sum(place >= edge for place in more) for edge in range(5)]
        for cuts in combinations_with_replacement(range(5), 3):
            many, few = (rows_between(cells(places), np.array(cuts), 4) for places in (more, less))
            assert np.abs(many - few).sum() == 1
            assert many.sum() == len(more)


@pytest.mark.parametrize("line", [TINY, FROM_0, WIDE], ids=["tiny", "from 0", "wide"])
def test_no_cell_is_farther_away_than_the_noise_is_for(line: Line) -> None:
    made, edges = mechanism("moments", line=line), len(line.edges())
    places = np.arange(line.size) if line.size < 10 else np.arange(0, line.size, 97)
    for low, high in product(range(0, edges, max(1, edges // 5)), repeat=2):
        if low < high:
            away = made._away(low, high, places)
            assert np.abs(away).max() <= MOST_AWAY
            assert (np.diff(away) >= 0).all()
            assert np.abs(away**2 - HALF_SQUARE).max() <= HALF_SQUARE


# ---- the exact law of small releases


def choice(rows: Any, first: int, epsilon: float, wanted: int, costs: Any, *, pure: bool = True) -> dict[int, float]:
    """Of every cell from the first on, from the definition."""
    scores = [
        -max(rows[j + 1] - wanted, wanted - rows[j], 0) - costs[j] / found_bounds.FINE
        for j in range(first, len(rows) - 1)
    ]
    law = laws.permute_and_flip if pure else laws.exponential
    return {first + j: chance for j, chance in enumerate(law(epsilon / 2, scores).values())}


def law_of_ends(made: FoundEnds, places: tuple[int, ...]) -> dict[tuple[int, int, int, int], float]:
    """P(low anchor, low end, high anchor, high end), written apart from the mechanism."""
    pure, line = made.currency == "epsilon", made.line
    size = len(line.edges()) - 1
    above = [sum(place >= edge for place in places) for edge in line.edges().tolist()]
    below = [len(places) - rows for rows in above][::-1]
    sought, free = found_ends.rows_at_anchor(made.anchor, size), [0] * size
    low_anchors = {size: 1.0} if line.one_sided else choice(below, 0, float(made.anchor), sought, free, pure=pure)
    chances: dict[tuple[int, int, int, int], float] = {}
    for (down, here), (up, there) in product(
        low_anchors.items(), choice(above, 0, float(made.anchor), sought, free, pure=pure).items()
    ):
        low_anchor = 0 if line.one_sided else size - 1 - down
        costs = line.farther(low_anchor, up + 1, 2 * found_bounds.FINE / float(made.end))
        wanted = found_ends.rows_at_clamp(made.end)
        lows = {size - 1: 1.0} if line.one_sided else choice(below, down, float(made.end), wanted, costs[0], pure=pure)
        for (far_down, low_chance), (far_up, high_chance) in product(
            lows.items(), choice(above, up, float(made.end), wanted, costs[1], pure=pure).items()
        ):
            low, high = size - 1 - far_down, far_up + 1
            key = low_anchor, min(low, high - 1), up + 1, max(high, low + 1)
            chances[key] = chances.get(key, 0.0) + here * there * low_chance * high_chance
    return chances


@cache
def cuts_of(made: FoundEnds, low: int, high: int) -> list[int]:
    return made.cuts(low, high).tolist()


def counted(made: FoundEnds, low: int, high: int, places: tuple[int, ...]) -> list[int]:
    """What gets noise of the first kind, from the definition."""
    cuts = [0, *cuts_of(made, low, high), made.line.size]
    rows = [sum(first <= place < last for place in places) for first, last in pairwise(cuts)]
    strategy = made.within.strategy
    return rows if strategy is None else strategy.answers(np.array(rows)).tolist()


def moments(made: FoundEnds, low: int, high: int, places: tuple[int, ...]) -> tuple[int, int]:
    away = [int(made._away(low, high, np.array([place]))[0]) for place in places]
    return sum(away), sum(one**2 - HALF_SQUARE for one in away)


def loss(made: FoundEnds, one: tuple[int, ...], other: tuple[int, ...], known: dict[Any, Any]) -> float:
    """The largest log-ratio of any release: of the places, and of the noise given these, whose worst is known."""
    for places in (one, other):
        known.setdefault(places, law_of_ends(made, places))
    chances = [known[places] for places in (one, other)]
    worst = -inf
    for key in chances[0]:
        _, low, _, high = key
        found = log(chances[0][key] / chances[1][key])
        moved = [counted(made, low, high, places) for places in (one, other)]
        found += sum(abs(a - b) for a, b in zip(*moved, strict=True)) / float(made.within.law.scale)  # type: ignore[union-attr]
        for noise, sums in zip(
            made.moments, zip(*(moments(made, low, high, places) for places in (one, other)), strict=True), strict=False
        ):
            found += abs(sums[0] - sums[1]) / float(noise.law.scale)  # type: ignore[union-attr]
        worst = max(worst, found)
    return worst


def worst_loss(made: FoundEnds) -> float:
    known: dict[Any, Any] = {}
    pairs = neighbours(made.line.size, 3)
    return max(loss(made, *both, known) for more, less in pairs for both in ((more, less), (less, more)))


@cache
def few(wanted: str, line: Line) -> FoundEnds:
    """Rates at which one row decides."""
    return mechanism(wanted, share=6, line=line, bins=2)


@pytest.fixture
def near(monkeypatch: pytest.MonkeyPatch) -> None:
    """So few rows are sought that small tables have them."""
    monkeypatch.setattr(found_ends, "rows_at_anchor", lambda *_: 2)
    monkeypatch.setattr(found_ends, "rows_at_clamp", lambda *_: 1)


@pytest.mark.usefixtures("near")
@pytest.mark.parametrize("line", [TINY, FROM_0], ids=["tiny", "from 0"])
@pytest.mark.parametrize("wanted", KINDS)
def test_the_exact_law_keeps_the_promise_and_uses_it(wanted: str, line: Line) -> None:
    made = few(wanted, line)
    assert made.cost("epsilon") == 6
    worst = worst_loss(made)
    assert worst <= 6 + 1e-9
    assert worst > 4.5


TWICE = "law(epsilon, Fraction(FINE))", "law(2 * epsilon, Fraction(FINE))"


@pytest.mark.usefixtures("near")
def test_a_price_without_one_of_the_noises_is_exceeded() -> None:
    """With choices that cost next to nothing the rest is used to the full, so none of it can be left out."""
    made = replace(few("moments", TINY), anchor=F(1, 100), end=F(1, 100))
    worst = worst_loss(made)
    assert worst <= made.cost("epsilon")
    for noise in (made.within, *made.moments):
        assert worst > made.cost("epsilon") - noise.cost("epsilon")


@pytest.mark.usefixtures("near")
def test_choices_in_rho_have_a_loss_of_bounded_range() -> None:
    """From the least to the largest log-ratio of one choice it is at most ε of a row."""
    for more, less in neighbours(4, 3):
        above = [[sum(place >= edge for place in places) for edge in range(5)] for places in (more, less)]
        for first, wanted in product((0, 2), range(4)):
            one, other = (choice(rows, first, 1.0, wanted, [0, 7, 64, 100], pure=False) for rows in above)
            ratios = [log(one[place] / other[place]) for place in one]
            assert max(ratios) - min(ratios) <= 1 + 1e-9


def p_value(made: Any, places: tuple[int, ...], law: dict[Any, float], draws: int = 3_000) -> float:
    entropy, data = SeededEntropy("ends"), cells(places)
    likely = {key: chance for key, chance in law.items() if chance > 2e-3}
    seen = dict.fromkeys([*likely, "else"], 0)
    for _ in range(draws):
        key = made.ends(data, entropy)
        seen[key if key in likely else "else"] += 1
    rest = 1 - sum(likely.values())
    return (
        chi_square(list(seen.values()), [*likely.values(), rest])
        if rest > 1e-9
        else chi_square([seen[key] for key in likely], list(likely.values()))
    )


@pytest.mark.slow
@pytest.mark.usefixtures("near")
@pytest.mark.parametrize("currency", ["epsilon", "rho"])
@pytest.mark.parametrize("line", [TINY, FROM_0], ids=["tiny", "from 0"])
def test_draws_follow_the_law_and_those_of_a_twin_do_not(
    line: Line, currency: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, places = mechanism(share=8, currency=currency, line=line), (0, 0, 1, 1, 2)
    law = law_of_ends(made, places)
    assert sum(law.values()) == pytest.approx(1)
    assert p_value(made, places, law) > 1e-6
    monkeypatch.setattr(found_ends, "choose_edge", mutant(found_bounds, *TWICE).choose_edge)
    assert p_value(made, places, law) < 1e-6


@pytest.mark.parametrize("currency", ["epsilon", "rho"])
@pytest.mark.parametrize("wanted", KINDS)
def test_every_number_gets_noise_of_its_own(wanted: str, currency: Any) -> None:
    """Counts and sums of many runs around what they are of, as far apart as their law says."""
    made, entropy, places = (
        mechanism(wanted, share=2, currency=currency, line=TINY),
        SeededEntropy(wanted),
        (0, 1, 1, 3),
    )
    off: list[list[float]] = []
    for _ in range(400):
        released = made.find(cells(places), entropy)
        _, low, _, high = released[:4]
        truth = [*counted(made, low, high, places), *(moments(made, low, high, places) if made.moments else ())]
        off.append([seen - true for seen, true in zip(released[4:], truth, strict=True)])
    laws_of = [made.within.law] * len(counted(made, 0, 4, places)) + [noise.law for noise in made.moments]
    for place, law in enumerate(laws_of):
        variance = 2 * float(law.scale) ** 2 if isinstance(law, DiscreteLaplace) else float(law.variance)
        drawn = np.array([row[place] for row in off])
        assert abs(drawn.mean()) < 6 * np.sqrt(variance / 400)
        # The fourth moment of Laplace noise is 6 times the squared variance.
        assert drawn.var() == pytest.approx(variance, rel=6 * np.sqrt(5 / 400) / 2)
    assert len({tuple(row) for row in off}) > 100


# ---- whatever lines say


def nonsense(monkeypatch: pytest.MonkeyPatch, said: Any) -> None:
    for name in ("cuts", "deviations"):
        monkeypatch.setattr(Line, name, lambda *_: said)
    monkeypatch.setattr(Line, "farther", lambda *_: (said, said))


SAID = [
    np.array([9, -9, 4], dtype=np.int64),
    np.array([3, 1, 0], dtype=np.int64),
    np.array([10**18, -(10**18), 10**18], dtype=np.int64),
    np.array([0.5, np.nan, np.inf]),
    np.arange(1_000, dtype=np.int64),
    np.array([], dtype=np.int64),
]


@pytest.mark.parametrize("said", SAID, ids=str)
def test_nonsense_moves_no_claim(said: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    nonsense(monkeypatch, said)
    entropy = SeededEntropy("nonsense")
    for wanted in KINDS:
        made = mechanism(wanted, line=TINY, bins=2)
        for low, high in ((0, 4), (1, 2), (2, 4)):
            cuts = made.cuts(low, high)
            assert (np.diff(cuts) >= 0).all()
            assert cuts[0] >= 0
            assert cuts[-1] <= 4
            assert np.abs(made._away(low, high, np.arange(4))).max() <= MOST_AWAY
            for more, less in neighbours(4, 2):
                one, other = (rows_between(cells(places), cuts, 4) for places in (more, less))
                assert np.abs(one - other).sum() == 1
        assert len(made.find(cells([0, 1, 3]), entropy)) == 4 + (5 if wanted == "moments" else 4)


@pytest.mark.parametrize("said", [[0, 2, 2, 4], [1, 4], [0, 5], [0, 3, 1, 4]])
def test_edges_that_do_not_rise_are_refused(said: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Line, "edges", lambda *_: np.array(said, dtype=np.int64))
    with pytest.raises(Refused, match="rise"):
        mechanism(line=TINY).find(cells([0, 1]), SeededEntropy("edges"))


def test_lines_are_told_nothing_but_parameters_and_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """What they are asked is the same for tables with equal places: numbers of edges, and constants."""
    asked: list[Any] = []
    for name in ("cuts", "deviations", "farther"):
        right = getattr(Line, name)
        monkeypatch.setattr(Line, name, lambda self, *given, right=right: (asked.append(given), right(self, *given))[1])
    for wanted in KINDS:
        mechanism(wanted, line=TINY).find(cells([0, 1, 3, 3]), SeededEntropy("told"))
    assert asked
    assert all(type(one) in (int, float) for given in asked for one in given)


# ---- price and record


@pytest.mark.parametrize("line", [WIDE, FROM_0], ids=["both ends", "one end"])
@pytest.mark.parametrize("wanted", KINDS)
@pytest.mark.parametrize("rows", [1, 20])
def test_all_rounds_are_paid(rows: int, wanted: str, line: Line) -> None:
    pure, zcdp = (mechanism(wanted, rows=rows, currency=currency, line=line) for currency in ("epsilon", "rho"))
    sides = 1 if line is FROM_0 else 2
    assert (pure.anchor, pure.end) == (F(132, 1000) / rows / sides, F(198, 1000) / rows / sides)
    assert rows**2 * zcdp.anchor**2 / 8 * sides == pytest.approx(0.132, abs=1e-9)
    assert rows**2 * zcdp.end**2 / 8 * sides == pytest.approx(0.198, abs=1e-9)
    assert pure.cost("epsilon") == 1
    assert 1 - F(1, 10**12) < zcdp.cost("rho") <= 1
    if wanted == "moments":
        assert pure.within.law == DiscreteLaplace(F(400, 67) * rows)
        assert pure.moments[0].law == DiscreteLaplace(F(400, 67) * rows * MOST_AWAY)
        assert zcdp.moments[1].law == DiscreteGaussian(F(rows * HALF_SQUARE) ** 2 / (2 * F(67, 200)))
    elif wanted == "bins":
        assert pure.within.law == DiscreteLaplace(F(100, 67) * rows)
        assert zcdp.within.law == DiscreteGaussian(F(rows) ** 2 / (2 * F(67, 100)))
    else:
        assert zcdp.within.strategy is not None
        assert zcdp.within.l2_squared == rows**2 * zcdp.within.strategy.spread_squared
    for made, other in ((pure, "rho"), (zcdp, "epsilon")):
        with pytest.raises(Refused, match=f"not paid in {other}"):
            made.cost(other)  # type: ignore[arg-type]
    assert pure.event() == {"mechanism": "found_ends", "rows": str(rows), "epsilon": "1"}
    assert event(pure.event()) == Event("pure", F(1))
    assert 0 <= event(zcdp.event()).amount - zcdp.cost("rho") < F(1, 2**120)


def test_rows_that_lie_in_several_groups_need_less_gaussian_noise() -> None:
    shared = FoundEnds.for_share(F(1), "rho", 3, 5, WIDE, THIRD, "moments", 1)
    assert 5 * shared.end**2 / 8 * 2 == pytest.approx(0.198, abs=1e-9)
    assert shared.within.law == DiscreteGaussian(5 / (2 * F(67, 400)))
    assert 1 - F(1, 10**12) < shared.cost("rho") <= 1
    assert shared.event()["rows_squared"] == "5"


@pytest.mark.parametrize(
    "changes",
    [
        {"anchor": F(0)},
        {"end": F(0)},
        {"l1": 2},
        {"l2_squared": 4},
        {"within": Additive(DiscreteLaplace(F(1)), 1, 1, 2)},
        {"within": Additive(DiscreteLaplace(F(1)), 1, 1, None)},
        {"moments": (Additive(DiscreteLaplace(F(1)), MOST_AWAY, MOST_AWAY**2),)},
        {"moments": (Additive(DiscreteLaplace(F(1)), 1, 1), Additive(DiscreteLaplace(F(1)), 1, 1))},
    ],
)
def test_rounds_that_are_not_about_the_same_rows_do_not_exist(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"same rows|has a price"):
        replace(mechanism("moments"), **changes)


# ---- certified and released

AGES = Grid(Column("age"), F(-43), F(43), 1 << 12)


def asked(unit: Any = None, wanted: Any = "bins", name: Any = "laplace", bins: int = 4, **changes: Any) -> Any:
    node = BetweenEnds(AGES, F(1), THIRD, wanted, 1 if wanted == "moments" else bins)
    return plan(measure(node, share=1, mechanism=name), unit=unit, **changes)


@pytest.mark.parametrize("wanted", KINDS)
def test_certify_derives_rows_cost_and_noise(wanted: str) -> None:
    line = Line(1 << 12, F(-43), F(86, 1 << 12), F(1))
    certified = certify(asked(PERSON, wanted), schema(PERSON), "epsilon")
    assert certified.cost.amount == 1
    assert certified.releases[0].mechanism == mechanism(wanted, rows=20, line=line)
    assert certified.releases[0].sensitivity.l1 == 20
    gaussian = certify(asked(wanted=wanted, name="gaussian"), schema(), "rho")
    assert gaussian.releases[0].mechanism == mechanism(wanted, currency="rho", line=line)
    assert 1 - F(1, 10**12) < gaussian.cost.amount <= 1


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (asked(name="gaussian"), "not paid in epsilon"),
        (asked(bins=MOST_GROUPS + 1), "cells"),
        (plan(measure(BetweenEnds(Grid(Column("height"), F(-1), F(1), 2), F(1), THIRD, "bins"))), "height"),
    ],
)
def test_certify_refuses(wrong: Any, why: str) -> None:
    with pytest.raises(Refused, match=why):
        certify(wrong, schema(), "epsilon")


@pytest.mark.parametrize(
    "changes",
    [
        {"finding": F(0)},
        {"finding": F(1)},
        {"step": F(0)},
        {"step": F(1, 10**400)},
        {"bins": 0},
        {"bins": 2.0},
        {"wanted": "moments", "bins": 2},
        {"cells": Grid(Column("age"), F(-1), F(2), 4)},
        {"cells": Grid(Column("age"), F(-1), F(1), 3)},
        {"cells": Grid(Column("age"), F(1), F(2), 4)},
    ],
)
def test_what_is_no_line_of_logarithms_does_not_exist(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"a part of the share|has 0 at its|of a size that|one bin or more"):
        replace(BetweenEnds(AGES, F(1), THIRD, "bins", 4), **changes)


def test_the_gate_takes_cells_and_nothing_else_and_a_release_has_their_shape() -> None:
    certified = certify(asked(keys=(BY_SEX,)), schema(), "epsilon")
    line = certified.releases[0].mechanism.line  # type: ignore[union-attr]
    entries = [cells([line.place(age) for age in range(18, 91)] * 50), cells([])]
    done = release(certified, Receipt(1, certified.digest), [(entry,) for entry in entries], SeededEntropy("gate"))
    (first,), (second,) = done.values
    assert len(first) == len(second) == 10
    assert abs(sum(first[4:]) - 73 * 50) < 100
    assert fits(done, certified)
    last = len(line.edges()) - 1
    for place, wrong in ((0, -1), (2, last + 1), (1, first[3]), (5, 1.0), (4, 1 << 600)):
        changed = (*first[:place], wrong, *first[place + 1 :])
        assert not fits(replace(done, values=(((changed,)), (second,))), certified), (place, wrong)
    for wrong in (first[:-1], (*first, 0), 7, first[:4]):
        assert not fits(replace(done, values=((wrong,), (second,))), certified)
    for wrong in (5, cells([line.size])):
        with pytest.raises(Refused, match="something else than cells"):
            release(certified, Receipt(1, certified.digest), [(wrong,), (entries[1],)], SeededEntropy("wrong"))


# ---- where the ends come to lie


@pytest.mark.slow
@pytest.mark.parametrize("currency", ["epsilon", "rho"])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_ends_lie_near_the_smallest_and_the_largest_values(currency: Any, sign: int) -> None:
    rng, entropy = np.random.default_rng(3), SeededEntropy(f"near/{currency}/{sign}")
    values = sign * rng.normal(170, 10, 12_000)
    made, data = mechanism(currency=currency), cells([WIDE.place(float(value)) for value in values])
    found = [made.ends(data, entropy) for _ in range(60)]
    lows, highs = (np.array([WIDE.at(one[place]) for one in found]) for place in (1, 3))
    beyond = [((values < low) | (values >= high)).mean() for low, high in zip(lows, highs, strict=True)]
    assert np.median(beyond) < 0.005
    assert np.median(highs - lows) < 150
    assert np.mean(highs - lows > 1_000) < 0.1


def test_zeros_and_one_sign_do_not_lead_across_zero() -> None:
    rng, entropy = np.random.default_rng(4), SeededEntropy("zeros")
    values = np.concatenate([np.zeros(2_000), rng.lognormal(10, 1, 8_000)])
    made, data = mechanism(), cells([WIDE.place(float(value)) for value in values])
    lows = [WIDE.at(made.ends(data, entropy)[1]) for _ in range(40)]
    assert np.mean([low == 0 for low in lows]) > 0.8
