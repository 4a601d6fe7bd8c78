"""Private quantiles: the exact law enumerated, draws against it, and the loss between all small neighbours."""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache, lru_cache
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest

from sfumato.kernel.cost import root_below
from sfumato.kernel.mechanisms import ranks
from sfumato.kernel.mechanisms.protocol import CellCounts
from sfumato.kernel.mechanisms.ranks import RankChoice
from tests.entropy import SeededEntropy
from tests.kernel.laws import PRECISE, chi_square, decimal, exp_minus, mutant
from tests.marks import one_in

F = Fraction
HALF = F(1, 2)
MEDIAN, TWO, THREE = (HALF,), (F(1, 4), HALF), (F(1, 10), HALF, F(9, 10))
QUARTILES = (F(1, 4), HALF, F(3, 4))
NOTHING = F(1, 10**12)
ENDS = (F(0), F(3, 10), F(1))
ORDERS = (2, 8, 40)  # and 3/2
ROUNDING = Decimal(10) ** -40
Law = dict[tuple[int, ...], Decimal]
Histogram = tuple[int, ...]


def cells(counts: Histogram) -> CellCounts:
    dense = np.array(counts, dtype=np.int64)
    places = np.flatnonzero(dense)
    return CellCounts(places, dense[places])


def choice(levels: tuple[Fraction, ...], size: int, rows: int = 1, epsilon: Any = 1, module: Any = ranks) -> Any:
    """Another price at each depth, so that one taken for another is seen; each for all rows of a unit in one group."""
    estimates = tuple(F(epsilon) * (depth + 2) / 2 / rows for depth in range(len(levels).bit_length()))
    return module.RankChoice(levels, size, rows, rows**2, estimates, NOTHING)


@pytest.fixture
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two parts a cell: lines short enough to enumerate."""
    _coarse(monkeypatch, ranks)


def _coarse(monkeypatch: pytest.MonkeyPatch, module: Any) -> None:
    monkeypatch.setattr(module, "FEWEST_POSITIONS", 1)
    monkeypatch.setattr(module, "FEWEST_PARTS", 2)


def halves(counts: Histogram) -> list[int]:
    """Rows in each half of each cell: the first goes up, the second down, and so on."""
    return [rows for count in counts for rows in (count // 2, count - count // 2)]


# ---- the law, by its definition: no runs, no numpy ---------------------------------------------------------


def _ranks(low: int, high: int, wanted: Fraction) -> list[Fraction]:
    """The ends of a stretch of ranks, and the wanted one if it lies inside; of an empty stretch its beginning."""
    return [F(low), F(max(low, high)), *([wanted] if low <= wanted <= high else [])]


@lru_cache(maxsize=100_000)
def one_choice(counts: tuple[int, ...], inside: Fraction, price: Fraction, shift: int, slack: int = 0) -> Any:
    """Chances of the positions between the parts of a piece.

    Log-weight -ε · |(1 - q) below - q above - shift| / (2 · max(q, 1 - q)), at the best of the ranks from a
    position's own to `slack` below the next one's.
    """
    everybody = sum(counts)
    below = [sum(counts[:place]) for place in range(len(counts) + 1)]
    gaps = [
        min(abs(rank - inside * everybody - shift) for rank in _ranks(low, high - slack, inside * everybody + shift))
        for low, high in zip(below, [*below[1:], everybody], strict=True)
    ]
    with localcontext(PRECISE):
        least = min(gaps)
        rate = price / (2 * max(inside, 1 - inside))
        weights = [exp_minus(rate * (gap - least)) for gap in gaps]
        return [weight / sum(weights) for weight in weights]


def law(mechanism: Any, counts: Histogram) -> Law:
    """Of the positions of all levels."""
    nodes, fine = mechanism.nodes(), halves(counts)
    order = sorted(range(len(nodes)), key=lambda place: nodes[place].depth)
    found: Law = {}

    def visit(turn: int, chosen: dict[int, int], chance: Decimal) -> None:
        if turn == len(order):
            outcome = tuple(chosen[place] for place in range(len(nodes)))
            found[outcome] = found.get(outcome, Decimal(0)) + chance
            return
        place = order[turn]
        node = nodes[place]
        start = 0 if node.left is None else chosen[node.left]
        end = len(fine)
        if node.right is not None:
            end = min(end, chosen[node.right] + (1 if nodes[node.right].level == 1 else 0))
        inward, slack = (ranks.safe(rows) for rows in mechanism.widths.rows_of(place))
        cuts = any(place in (other.left, other.right) for other in nodes) and node.level not in (0, 1)
        slack = 10**9 if cuts else max(slack, 0)
        chances = one_choice(tuple(fine[start:end]), node.inside, mechanism.estimates[node.depth], inward, slack)
        for pick, weight in enumerate(chances):
            visit(turn + 1, {**chosen, place: start + pick}, chance * weight)

    with localcontext(PRECISE):
        visit(0, {}, Decimal(1))
        assert abs(sum(found.values()) - 1) < ROUNDING
    return found


CASES = [
    (MEDIAN, (3, 0, 2), 1),
    (MEDIAN, (0, 0), 1),
    (MEDIAN, (7,), 2),
    (MEDIAN, (60, 50), 3),
    (TWO, (2, 5), 1),
    (TWO, (40, 30), 1),
    ((F(0),), (0, 3, 1), 1),
    ((F(1),), (0, 3, 1), 3),
    (THREE, (4, 3), 1),
]


@pytest.mark.slow
@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize(("levels", "counts", "rows"), one_in(2, CASES))
def test_draws_follow_the_law(levels: tuple[Fraction, ...], counts: Histogram, rows: int) -> None:
    draws = 4_000
    mechanism = choice(levels, len(counts), rows, epsilon=3)
    entropy, given = SeededEntropy(f"ranks {levels} {counts}"), cells(counts)
    expected = law(mechanism, counts)
    seen = dict.fromkeys(expected, 0)
    for _ in range(draws):
        seen[mechanism.choose(given, entropy)[: len(levels)]] += 1
    assert chi_square(list(seen.values()), [float(chance) for chance in expected.values()]) > 1e-6


# ---- privacy, by the exact probabilities, on all small neighbours ------------------------------------------


def additions(size: int, most: int) -> Iterator[Histogram]:
    return (added for added in product(range(most + 1), repeat=size) if 0 < sum(added) <= most)


def lost(one: Law, two: Law) -> list[Decimal]:
    """The largest |ln P/P'|, then the Rényi divergences over their orders, of both directions."""
    ratios = [(one[outcome], one[outcome] / two[outcome]) for outcome in one]
    back = [(two[outcome], two[outcome] / one[outcome]) for outcome in two]
    found = [max(ratio for _, ratio in ratios + back).ln()]
    for pairs in (ratios, back):
        found.append(sum(p * r.sqrt() for p, r in pairs).ln() * 2 / Decimal("1.5"))  # type: ignore[union-attr]
        found += [sum(p * r ** (order - 1) for p, r in pairs).ln() / (order - 1) / order for order in ORDERS]  # type: ignore[union-attr]
    return found


def excess(mechanism: Any, tables: Any, *, lawful: Any = law) -> tuple[Decimal, Decimal]:
    """By how much the worst loss is above the price in ε, and the worst divergence above order times that in ρ.

    Of positions: bars of ε next to nothing are what is charged besides. A table has (counts, what a unit adds) for
    every group. Groups are drawn independently, so losses add up.
    """

    @cache
    def of(counts: Histogram) -> Law:
        return lawful(mechanism, counts)  # type: ignore[no-any-return]

    @cache
    def in_one(counts: Histogram, added: Histogram) -> list[Decimal]:
        return lost(of(counts), of(tuple(a + b for a, b in zip(counts, added, strict=True))))

    with localcontext(PRECISE):
        totals = [
            [sum(parts) for parts in zip(*(in_one(*group) for group in groups), strict=True)] for groups in tables
        ]
        worst = max(total[0] for total in totals)
        diverged = max(max(total[1:]) for total in totals)
        return worst - decimal(mechanism.cost("epsilon")), diverged - decimal(mechanism.cost("rho"))


def one_group(size: int, most: int, unit: int) -> list[Any]:
    return [[(counts, added)] for counts in product(range(most + 1), repeat=size) for added in additions(size, unit)]


def two_groups(size: int, most: int) -> list[Any]:
    """A unit of two rows with one in each group."""
    single = [(counts, added) for counts in product(range(most + 1), repeat=size) for added in additions(size, 1)]
    return [[one, two] for one in single for two in single]


PRIVATE = [
    pytest.param(MEDIAN, 3, 1, one_group(3, 2, 1), id="median of three cells"),
    pytest.param(MEDIAN, 2, 2, one_group(2, 3, 2), id="median, units of two rows"),
    pytest.param((F(1, 10),), 2, 1, one_group(2, 3, 1), id="a tenth"),
    pytest.param((F(0),), 2, 1, one_group(2, 3, 1), id="smallest"),
    pytest.param((F(1),), 2, 2, one_group(2, 2, 2), id="largest"),
    pytest.param(MEDIAN, 2, 2, two_groups(2, 2), id="two groups"),
]
DEEP = [
    pytest.param(TWO, 2, 1, one_group(2, 3, 1), id="two levels"),
    pytest.param(THREE, 2, 1, one_group(2, 2, 1), id="three levels"),
    pytest.param(THREE, 2, 2, one_group(2, 2, 2), id="three levels, units of two rows"),
    pytest.param(ENDS, 2, 1, one_group(2, 2, 1), id="both ends"),
    pytest.param(TWO, 1, 2, two_groups(1, 2), id="two levels, two groups"),
]


@pytest.mark.slow
@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize(("levels", "size", "rows", "tables"), PRIVATE)
def test_no_neighbour_loses_more_than_is_paid(levels: Any, size: int, rows: int, tables: Any) -> None:
    worst, diverged = excess(choice(levels, size, rows), tables)
    assert worst <= ROUNDING
    assert diverged <= ROUNDING


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize(("levels", "size", "rows", "tables"), DEEP)
def test_no_neighbour_loses_more_than_is_paid_over_all_depths(levels: Any, size: int, rows: int, tables: Any) -> None:
    worst, diverged = excess(choice(levels, size, rows), tables)
    assert worst <= ROUNDING
    assert diverged <= ROUNDING


@pytest.mark.usefixtures("coarse")
def test_rows_in_two_groups_cost_what_their_squares_add_up_to() -> None:
    """One row in each of two groups: 2 in place of 4, which no whole length says; the ε stays that of two rows."""
    for levels, size in ((MEDIAN, 2), (TWO, 1)):
        mechanism = replace(choice(levels, size, 2), l2_squared=2)
        assert mechanism.cost("rho") < choice(levels, size, 2).cost("rho")
        worst, diverged = excess(mechanism, two_groups(size, 2))
        assert worst <= ROUNDING
        assert diverged <= ROUNDING
    far = (0,) * 100
    pulled: Any = ((20, *far, 10, 11), (0, *far, 0, 1))
    once = RankChoice(MEDIAN, 103, 1, 1, (F(1),), NOTHING)
    assert excess(replace(once, l1=2, l2_squared=2), [[pulled, pulled]])[0] <= ROUNDING
    assert excess(once, [[pulled, pulled]])[0] > Decimal("0.9")


@pytest.mark.slow
@pytest.mark.usefixtures("coarse")
def test_most_of_what_is_paid_is_needed() -> None:
    """Nearly all places fall and a few rise, when a row more pulls the median out of a long empty stretch."""
    for levels, prices, stretch, spare in (
        (MEDIAN, (F(1),), 400, "0.002"),
        (QUARTILES, (NOTHING, F(3)), 30, "0.3"),
    ):
        far = (0,) * stretch
        mechanism = RankChoice(levels, stretch + 3, 1, 1, prices, NOTHING)
        assert excess(mechanism, [[((20, *far, 10, 11), (0, *far, 0, 1))]])[0] > -Decimal(spare)


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("levels", [MEDIAN, TWO, THREE, ENDS])
@pytest.mark.parametrize("share", [F(1, 40), F(1), F(7, 3)])
def test_in_rho_a_tenth_is_for_bars_and_values_have_the_law_of_the_rest(levels: Any, share: Fraction) -> None:
    """Where bars cost next to nothing and the price is nine tenths, positions have the same law and the same draws."""
    depths = len(levels).bit_length()
    mechanism = RankChoice.for_share(share, "rho", 2, 3, levels, 2)
    assert mechanism.bars == share / 10 / 3
    assert mechanism.estimates == (root_below(8 * F(9, 10) * share / depths / 3),) * depths
    alone = RankChoice(levels, 2, 2, 3, mechanism.estimates, NOTHING, gaussian=True)
    for counts in ((0, 0), (3, 2), (0, 5), (9, 1)):
        assert law(mechanism, counts) == law(alone, counts)
        drawn = [
            one._positions(cells(counts), SeededEntropy(f"{counts} {run}"))
            for run in range(5)
            for one in (mechanism, alone)
        ]
        assert drawn[::2] == drawn[1::2]


TWINS = {
    "the slope of the smaller side": (
        "slope = max(node.inside.numerator, node.inside.denominator - node.inside.numerator)",
        "slope = min(node.inside.numerator, node.inside.denominator - node.inside.numerator)",
    ),
    "the level's denominator forgotten": ("Fraction(slope)", "Fraction(slope) / 10"),
    "the price of another depth": ("self.estimates[node.depth], entropy", "2 * self.estimates[0], entropy"),
}


@pytest.mark.slow
@pytest.mark.parametrize("twin", TWINS)
def test_a_broken_twin_does_not_follow_the_law(twin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The law itself is private by the tests above, so it is enough that the code leaves it."""
    module = mutant(ranks, *TWINS[twin])
    _coarse(monkeypatch, module)
    _coarse(monkeypatch, ranks)
    counts = (60, 50)
    right = choice((F(2, 5),), 2, 2, epsilon=F(1, 2))
    expected, broken = law(right, counts), choice((F(2, 5),), 2, 2, epsilon=F(1, 2), module=module)
    seen, entropy = dict.fromkeys(expected, 0), SeededEntropy("twin")
    for _ in range(3_000):
        seen[broken.choose(cells(counts), entropy)[:1]] += 1
    assert chi_square(list(seen.values()), [float(chance) for chance in expected.values()]) < 1e-6


@pytest.mark.usefixtures("coarse")
def test_pieces_that_share_a_row_are_caught() -> None:
    """Both sides look at the whole line: a unit is paid for once and counted twice."""

    def sharing(mechanism: Any, counts: Histogram) -> Law:
        fine, nodes, found = tuple(halves(counts)), mechanism.nodes(), {}
        options = [one_choice(fine, node.inside, mechanism.estimates[node.depth], 0) for node in nodes]
        with localcontext(PRECISE):
            for picks in product(*(range(len(option)) for option in options)):
                found[picks] = prod((option[i] for option, i in zip(options, picks, strict=True)), start=Decimal(1))
        return found

    far = (0,) * 8
    tables: list[Any] = [
        *([(counts, (0, *far, 0, 1))] for counts in ((20, *far, 10, 11), (3, *far, 3, 3), (0, *far, 1, 0)))
    ]
    quartiles = RankChoice(QUARTILES, 11, 1, 1, (NOTHING, F(3)), NOTHING)
    assert excess(quartiles, tables)[0] <= ROUNDING
    worst, diverged = excess(quartiles, tables, lawful=sharing)
    assert worst > Decimal("1.8")
    assert diverged > Decimal("0.3")


# ---- one level alone, in pure ε: permute-and-flip over the positions


def flipped_law(mechanism: Any, counts: Histogram) -> list[Decimal]:
    """P(i) = p_i ∫ Π_{j≠i} (1 - p_j t) dt over [0, 1], with p_i = exp(-ε · gap_i / (2 · slope)).

    A gap is in rows; of a cell without a round number, where these are likelier, it is larger.
    """
    (node,), fine = mechanism.nodes(), halves(counts)
    wanted = node.level * sum(fine) + mechanism.widths.inward(0)
    gaps = []
    for start in range(0, len(fine) + 1, mechanism.stride):
        low, high = sum(fine[:start]), sum(fine[: start + mechanism.stride])
        gaps.append(min(abs(rank - wanted) for rank in _ranks(low, high - mechanism.widths.slack(node), wanted)))
        if mechanism.line is not None and node.level not in (0, 1) and start // 2 not in ROUND_CELLS:
            gaps[-1] += ODD
    with localcontext(PRECISE):
        rate = mechanism.estimates[0] / (2 * node.slope)
        heads = [exp_minus(rate * (gap - min(gaps))) for gap in gaps]
        chances = []
        for place, head in enumerate(heads):
            product_of = [Decimal(1)]  # coefficients in t
            for other, tail in enumerate(heads):
                if other != place:
                    shifted = [Decimal(0), *(-tail * one for one in product_of)]
                    product_of = [a + b for a, b in zip([*product_of, Decimal(0)], shifted, strict=True)]
            chances.append(head * sum(one / (power + 1) for power, one in enumerate(product_of)))
        assert abs(sum(chances) - 1) < ROUNDING
    return chances


def flipped(levels: tuple[Fraction, ...], size: int, rows: int, module: Any = ranks, line: Any = None) -> Any:
    return module.RankChoice(levels, size, rows, rows**2, (F(2, rows),), NOTHING, flip=True, line=line)


BY_HALVES = (F(0), HALF)  # a line of cells half as wide as what lies between round numbers
ROUND_CELLS = (0, 2)
ODD = 3


@pytest.fixture
def odd(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two parts a cell, and whole numbers are round: other cells cost three rows."""
    _coarse(monkeypatch, ranks)
    _odd(monkeypatch, ranks)


def _odd(monkeypatch: pytest.MonkeyPatch, module: Any) -> None:
    monkeypatch.setattr(module, "round_cells", lambda *_: np.array(ROUND_CELLS))
    monkeypatch.setattr(module, "cost_of_odd", lambda inside, *_: ODD * inside.denominator)


@pytest.mark.slow
@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize(("levels", "counts", "rows"), one_in(2, (case for case in CASES if len(case[0]) == 1)))
def test_flipped_draws_follow_their_law(levels: tuple[Fraction, ...], counts: Histogram, rows: int) -> None:
    mechanism, entropy = flipped(levels, len(counts), rows), SeededEntropy(f"flip {levels} {counts}")
    expected = flipped_law(mechanism, counts)
    seen = [0] * len(expected)
    for _ in range(4_000):
        seen[mechanism.choose(cells(counts), entropy)[0] // mechanism.stride] += 1
    assert chi_square(seen, [float(chance) for chance in expected]) > 1e-6


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("level", [HALF, F(1, 10), F(0), F(1)])
def test_no_small_neighbour_loses_more_than_epsilon_when_flipped(level: Fraction) -> None:
    worst = Decimal(0)
    for counts in product(range(3), repeat=2):
        for place in range(2):
            more = tuple(count + (place == at) for at, count in enumerate(counts))
            mechanism = flipped((level,), 2, 1)
            one, other = flipped_law(mechanism, counts), flipped_law(mechanism, more)
            worst = max(worst, *(abs((a / b).ln()) for a, b in zip(one, other, strict=True)))
    assert Decimal("0.5") < worst <= 2 + ROUNDING


@pytest.mark.usefixtures("odd")
@pytest.mark.parametrize("level", [HALF, F(1, 10), F(0)])
def test_no_small_neighbour_loses_more_than_epsilon_where_round_numbers_are_likelier(level: Fraction) -> None:
    mechanism, worst = flipped((level,), 3, 1, line=BY_HALVES), Decimal(0)
    for counts in product(range(3), repeat=3):
        for place in range(3):
            more = tuple(count + (place == at) for at, count in enumerate(counts))
            one, other = flipped_law(mechanism, counts), flipped_law(mechanism, more)
            worst = max(worst, *(abs((a / b).ln()) for a, b in zip(one, other, strict=True)))
    assert Decimal("0.5") < worst <= 2 + ROUNDING


@pytest.mark.usefixtures("odd")
@pytest.mark.parametrize(("level", "counts"), [(HALF, (0, 8, 0)), (F(1, 10), (0, 1, 3)), (F(1), (1, 1, 0))])
def test_draws_with_likelier_round_numbers_follow_their_law(level: Fraction, counts: Histogram) -> None:
    expected = flipped_law(flipped((level,), 3, 1, line=BY_HALVES), counts)
    assert chi_square(_drawn(ranks, level, counts), [float(chance) for chance in expected]) > 1e-6


@pytest.mark.parametrize(
    "broken", ["- self.costs(node) * (candidates.low == candidates.high)", "- self.costs(node) * (candidates.low > 0)"]
)
def test_a_twin_whose_costs_follow_the_rows_is_flagged(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    twin, counts = mutant(ranks, "- self.costs(node)", broken), (0, 8, 0)
    for module in (ranks, twin):
        _coarse(monkeypatch, module)
        _odd(monkeypatch, module)
    expected = flipped_law(flipped(MEDIAN, 3, 1, line=BY_HALVES), counts)
    assert chi_square(_drawn(twin, HALF, counts), [float(chance) for chance in expected]) < 1e-6


def _drawn(module: Any, level: Fraction, counts: Histogram) -> list[int]:
    mechanism, entropy = flipped((level,), len(counts), 1, module, BY_HALVES), SeededEntropy(f"odd {level} {counts}")
    seen = [0] * (2 * len(counts) + 1)
    for _ in range(4_000):
        seen[mechanism.choose(cells(counts), entropy)[0]] += 1
    return seen


@pytest.mark.slow
@pytest.mark.usefixtures("coarse")
def test_a_flip_with_half_the_slope_is_flagged(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = mutant(ranks, "Fraction(slope)", "Fraction(slope, 2)")
    _coarse(monkeypatch, broken)
    mechanism, counts = flipped(MEDIAN, 3, 1, broken), (3, 0, 2)
    expected, entropy = flipped_law(flipped(MEDIAN, 3, 1), counts), SeededEntropy("broken flip")
    seen = [0] * len(expected)
    for _ in range(4_000):
        seen[mechanism.choose(cells(counts), entropy)[0]] += 1
    assert chi_square(seen, [float(chance) for chance in expected]) < 1e-6


def test_flipping_looks_at_few_positions_and_costs_more_in_zcdp() -> None:
    for size in (1, 74, 1024, 1 << 15, 1 << 18):
        mechanism = RankChoice.for_share(F(1), "epsilon", 3, 9, MEDIAN, size)
        assert mechanism.flip
        assert mechanism.parts % mechanism.stride == 0
        assert mechanism.positions // mechanism.stride <= ranks.MOST_FLIPPED
        assert mechanism.event()["mechanism"] == "rank_flip"
        assert mechanism.cost("rho") == 9 * (mechanism.estimates[0] ** 2 / 2 + mechanism.bars**2 / 2)
    assert not RankChoice.for_share(F(1), "epsilon", 1, 1, TWO, 10).flip
    assert not RankChoice.for_share(F(1), "rho", 1, 1, MEDIAN, 10).flip
