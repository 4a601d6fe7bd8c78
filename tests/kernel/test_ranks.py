"""Private quantiles: the exact law enumerated, draws against it, and the loss between all small neighbours."""

from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache, lru_cache
from itertools import pairwise, product
from math import prod
from typing import Any

import numpy as np
import pytest

from sfumato.kernel import ranks
from sfumato.kernel.ranks import FARTHEST, MOST_LEVELS, MOST_ROWS, Cells, RankChoice, root_below
from tests.entropy import ScriptedEntropy, SeededEntropy
from tests.kernel.laws import PRECISE, chi_square, decimal, exp_minus, mutant

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


def cells(counts: Histogram) -> Cells:
    dense = np.array(counts, dtype=np.int64)
    places = np.flatnonzero(dense)
    return Cells(places, dense[places])


def choice(
    levels: tuple[Fraction, ...], size: int, rows: int = 1, epsilon: Any = 1, bar: Any = HALF, module: Any = ranks
) -> Any:
    """Another price at each depth, so that one taken for another is seen."""
    depths = range(len(levels).bit_length())
    each = [tuple(F(price) * (depth + 2) / 2 for depth in depths) for price in (epsilon, bar)]
    return module.RankChoice(levels, size, rows, *each)


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


@lru_cache(maxsize=100_000)
def one_choice(counts: tuple[int, ...], inside: Fraction, price: Fraction, shift: int, rows: int, end: int) -> Any:
    """Chances of the positions between the parts of a piece; `end` is -1 or 1 where one more stands for what is beyond.

    Log-weight -ε · |(1 - q) below - q above - shift| / (2 · max(q, 1 - q) · rows).
    """
    everybody = sum(counts)
    below = [sum(counts[:place]) for place in range(len(counts) + 1)]
    gaps = [abs((1 - inside) * rank - inside * (everybody - rank) - shift) for rank in below]
    places = list(range(len(below)))
    if end:
        beyond = end * (inside * everybody + shift - (everybody if end > 0 else 0))
        gaps, places = [*gaps, max(F(0), -beyond)], [*places, 0 if end < 0 else len(counts)]
    with localcontext(PRECISE):
        least = min(gaps)
        rate = price / (2 * max(inside, 1 - inside) * rows)
        weights = [exp_minus(rate * (gap - least)) for gap in gaps]
        chances = [Decimal(0)] * len(below)
        for place, weight in zip(places, weights, strict=True):
            chances[place] += weight / sum(weights)
    return chances


def law(mechanism: Any, counts: Histogram, *, bars: bool = True) -> Law:
    """Of (position, low, high) for every level; without bars of the positions alone."""
    nodes, fine = mechanism.nodes(), halves(counts)
    order = sorted(range(len(nodes)), key=lambda place: nodes[place].depth)
    found: Law = {}

    def visit(turn: int, chosen: dict[int, tuple[int, ...]], chance: Decimal) -> None:
        if turn == len(order):
            outcome = tuple(one for place in range(len(nodes)) for one in chosen[place])
            found[outcome] = found.get(outcome, Decimal(0)) + chance
            return
        place = order[turn]
        node = nodes[place]
        start = 0 if node.left is None else chosen[node.left][0]
        end = len(fine) if node.right is None else chosen[node.right][0]
        piece, reach = tuple(fine[start:end]), mechanism.reach(place)
        estimate, bar = mechanism.estimates[node.depth], mechanism.bars[node.depth]
        wanted = [(estimate, mechanism.inward(place), 0)]
        wanted += [(bar, -reach, -1), (bar, reach, 1)] if bars else []
        options = [one_choice(piece, node.inside, price, shift, mechanism.rows, side) for price, shift, side in wanted]
        for picks in product(*(range(len(option)) for option in options)):
            weight = prod((option[pick] for option, pick in zip(options, picks, strict=True)), start=Decimal(1))
            visit(turn + 1, {**chosen, place: tuple(start + pick for pick in picks)}, chance * weight)

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
    ((F(0),), (0, 3, 1), 1),
    ((F(1),), (0, 3, 1), 3),
]


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize(("levels", "counts", "rows"), CASES)
def test_draws_follow_the_law(levels: tuple[Fraction, ...], counts: Histogram, rows: int) -> None:
    draws = 4_000
    mechanism = choice(levels, len(counts), rows, epsilon=3, bar=3)
    entropy, given = SeededEntropy(f"ranks {levels} {counts}"), cells(counts)
    expected = law(mechanism, counts)
    seen = dict.fromkeys(expected, 0)
    for _ in range(draws):
        seen[mechanism.draw(given, entropy)] += 1
    assert chi_square(list(seen.values()), [float(chance) for chance in expected.values()]) > 1e-6


@pytest.mark.usefixtures("coarse")
def test_three_levels_and_their_bars_follow_the_law() -> None:
    """The positions alone, then each bar given its own piece: all of it would be 125,000 outcomes."""
    mechanism, counts, draws = choice(THREE, 2, epsilon=3, bar=3), (4, 3), 3_000
    entropy = SeededEntropy("three")
    drawn = [mechanism.draw(cells(counts), entropy) for _ in range(draws)]
    expected = law(mechanism, counts, bars=False)
    seen = dict.fromkeys(expected, 0)
    for one in drawn:
        seen[one[::3]] += 1
    assert chi_square(list(seen.values()), [float(chance) for chance in expected.values()]) > 1e-6
    node = mechanism.nodes()[0]
    for pick in range(1, 4):
        piece = tuple(halves(counts)[:pick])
        for side, end in ((1, -1), (2, 1)):
            found = [one[side] for one in drawn if one[3] == pick]
            chances = one_choice(piece, node.inside, mechanism.bars[1], end * mechanism.reach(0), 1, end)
            seen_bars = np.bincount(found, minlength=pick + 1)
            assert chi_square(seen_bars, [float(chance) for chance in chances]) > 1e-6


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


def excess(mechanism: Any, tables: Any, *, bars: bool = True, lawful: Any = law) -> tuple[Decimal, Decimal]:
    """By how much the worst loss is above epsilon(), and the worst divergence above order · rho().

    A table has (counts, what a unit adds) for every group. Groups are drawn independently, so losses add up.
    """

    @cache
    def of(counts: Histogram) -> Law:
        return lawful(mechanism, counts, bars=bars)  # type: ignore[no-any-return]

    @cache
    def in_one(counts: Histogram, added: Histogram) -> list[Decimal]:
        return lost(of(counts), of(tuple(a + b for a, b in zip(counts, added, strict=True))))

    with localcontext(PRECISE):
        totals = [
            [sum(parts) for parts in zip(*(in_one(*group) for group in groups), strict=True)] for groups in tables
        ]
        worst = max(total[0] for total in totals)
        diverged = max(max(total[1:]) for total in totals)
        return worst - decimal(mechanism.epsilon()), diverged - decimal(mechanism.rho())


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
    pytest.param(MEDIAN, 1, 1, [[((k,), (1,))] for k in range(0, 90, 3)], id="median, bars at work"),
    pytest.param((F(1, 10),), 1, 3, [[((k,), (3,))] for k in range(0, 900, 30)], id="a tenth, bars at work"),
]
DEEP = [
    pytest.param(TWO, 2, 1, one_group(2, 3, 1), id="two levels"),
    pytest.param(THREE, 2, 1, one_group(2, 2, 1), id="three levels"),
    pytest.param(THREE, 2, 2, one_group(2, 2, 2), id="three levels, units of two rows"),
    pytest.param(ENDS, 2, 1, one_group(2, 2, 1), id="both ends"),
    pytest.param(TWO, 1, 2, two_groups(1, 2), id="two levels, two groups"),
]


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize(("levels", "size", "rows", "tables"), PRIVATE)
def test_no_neighbour_loses_more_than_is_paid(levels: Any, size: int, rows: int, tables: Any) -> None:
    worst, diverged = excess(choice(levels, size, rows), tables)
    assert worst <= ROUNDING
    assert diverged <= ROUNDING


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize(("levels", "size", "rows", "tables"), DEEP)
def test_no_neighbour_loses_more_than_is_paid_over_all_depths(levels: Any, size: int, rows: int, tables: Any) -> None:
    """Without bars, which only multiply what each piece loses; bars of ε next to nothing are what is charged."""
    worst, diverged = excess(choice(levels, size, rows, bar=NOTHING), tables, bars=False)
    assert worst <= ROUNDING
    assert diverged <= ROUNDING


@pytest.mark.usefixtures("coarse")
def test_most_of_what_is_paid_is_needed() -> None:
    assert excess(choice(MEDIAN, 1, bar=NOTHING), one_group(1, 20, 1), bars=False)[0] > Decimal("-0.001")
    quartiles = RankChoice(QUARTILES, 2, 1, (NOTHING, F(3)), (NOTHING, NOTHING))
    assert excess(quartiles, one_group(2, 6, 1), bars=False)[0] > Decimal("-0.01")


@pytest.mark.usefixtures("coarse")
def test_a_twin_that_does_not_pay_for_bars_is_caught() -> None:
    free = choice(MEDIAN, 2, epsilon=F(1, 10), bar=4)
    unpaid = RankChoice(free.levels, free.cells, free.rows, free.estimates, (NOTHING,))

    def lawful(_: Any, counts: Histogram, *, bars: bool) -> Law:
        return law(free, counts, bars=bars)

    assert excess(unpaid, one_group(2, 3, 1), lawful=lawful)[0] > Decimal("0.1")


TWINS = {
    "the slope of the smaller side": (
        "slope = max(level.numerator, level.denominator - level.numerator)",
        "slope = min(level.numerator, level.denominator - level.numerator)",
    ),
    "rows forgotten": ("Fraction(slope * self.rows)", "Fraction(slope)"),
    "the level's denominator forgotten": ("Fraction(slope * self.rows)", "Fraction(slope * self.rows) / 10"),
    "a low bar at the price of the estimate": ("node, bar, -reach", "node, 2 * estimate, -reach"),
    "a high bar at the price of the estimate": ("node, bar, reach", "node, 2 * estimate, reach"),
}


@pytest.mark.parametrize("twin", TWINS)
def test_a_broken_twin_does_not_follow_the_law(twin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The law itself is private by the tests above, so it is enough that the code leaves it."""
    module = mutant(ranks, *TWINS[twin])
    _coarse(monkeypatch, module)
    _coarse(monkeypatch, ranks)
    counts = (60, 50)
    right = choice((F(2, 5),), 2, 2, epsilon=F(1, 2), bar=F(1, 2))
    monkeypatch.setattr(module.RankChoice, "reach", lambda _self, _place: 20)
    monkeypatch.setattr(RankChoice, "reach", lambda _self, _place: 20)
    expected, broken = law(right, counts), choice((F(2, 5),), 2, 2, epsilon=F(1, 2), bar=F(1, 2), module=module)
    seen, entropy = dict.fromkeys(expected, 0), SeededEntropy("twin")
    for _ in range(3_000):
        seen[broken.draw(cells(counts), entropy)] += 1
    assert chi_square(list(seen.values()), [float(chance) for chance in expected.values()]) < 1e-6


@pytest.mark.usefixtures("coarse")
def test_pieces_that_share_a_row_are_caught() -> None:
    """Both sides look at the whole line: a unit is paid for once and counted twice."""

    def sharing(mechanism: Any, counts: Histogram, *, bars: bool) -> Law:
        assert not bars
        fine, nodes, found = tuple(halves(counts)), mechanism.nodes(), {}
        options = [one_choice(fine, node.inside, mechanism.estimates[node.depth], 0, 1, 0) for node in nodes]
        with localcontext(PRECISE):
            for picks in product(*(range(len(option)) for option in options)):
                found[picks] = prod((option[i] for option, i in zip(options, picks, strict=True)), start=Decimal(1))
        return found

    quartiles, tables = RankChoice(QUARTILES, 2, 1, (NOTHING, F(3)), (NOTHING, NOTHING)), one_group(2, 6, 1)
    assert excess(quartiles, tables, bars=False)[0] <= ROUNDING
    worst, diverged = excess(quartiles, tables, bars=False, lawful=sharing)
    assert worst > Decimal("2.9")
    assert diverged > Decimal("0.7")


# ---- rows, parts, positions --------------------------------------------------------------------------------


@pytest.mark.parametrize(("parts", "together"), [(2, 1), (8, 1), (64, 1), (8, 3), (64, 8)])
def test_a_row_more_is_one_part_more_and_moves_no_other(parts: int, together: int) -> None:
    before = np.zeros(3 * parts, dtype=np.int64)
    for count in range(1, 3 * parts * together):
        filled, rows = ranks._fine(Cells(np.array([1]), np.array([count])), parts, together)
        assert rows.min() >= 1
        after = np.zeros(3 * parts, dtype=np.int64)
        after[filled] = rows
        change = after - before
        assert change.sum() == 1
        assert change.min() == 0
        assert (np.diff(filled) > 0).all()
        middle = after[parts : parts + parts // 2].sum()
        assert abs(2 * middle - count) <= 2 * together
        before = after


def test_a_twin_that_spreads_rows_anew_is_caught() -> None:
    """Rows put side by side from the left: a further one is no trouble; rows moved to make room are."""
    twin = mutant(ranks, "order[number]", "number * parts // np.repeat(counts, counts)")
    moved = False
    for count in range(1, 7):
        dense = []
        for more in (count, count + 1):
            filled, rows = twin._fine(Cells(np.array([0]), np.array([more])), 8)
            full = np.zeros(8, dtype=np.int64)
            np.add.at(full, filled, rows)
            dense.append(full)
        moved = moved or bool((dense[1] < dense[0]).any())
    assert moved


def test_runs_are_the_positions_of_a_line() -> None:
    given = cells((0, 3, 0, 200, 1))
    line = ranks._Line.of(given, 5, 64)
    filled, rows = ranks._fine(given, 64)
    dense = np.zeros(5 * 64, dtype=np.int64)
    dense[filled] = rows
    expected = np.concatenate([[0], np.cumsum(dense)])
    assert np.repeat(line.ranks, line.alike).tolist() == expected.tolist()
    assert (np.cumsum(line.alike) - line.alike).tolist() == line.starts.tolist()
    for start, end in ((0, 320), (3, 3), (70, 71), (64, 300), (100, 320)):
        piece = line.between(start, end)
        assert np.repeat(piece.ranks, piece.alike).tolist() == expected[start : end + 1].tolist()
        assert piece.starts[0] == start
        assert (np.diff(piece.starts) == piece.alike[:-1]).all()


def test_equal_values_are_cut_where_the_levels_lie() -> None:
    """Nine tenths of the rows are one value: the quartiles are all there, and a level beyond is beyond."""
    levels = (F(1, 4), HALF, F(3, 4), F(95, 100))
    counts = np.ones(1 << 17, dtype=np.int64)
    counts[0] = 9 * counts.size
    mechanism = RankChoice.for_share(F(1), "epsilon", levels, 1 << 18, 1)
    places = np.arange(counts.size, dtype=np.int64)
    drawn = mechanism.draw(Cells(places, counts), SeededEntropy("ties"))
    values = [position / mechanism.parts for position in drawn[::3]]
    assert all(0 <= value <= 1 for value in values[:3])
    assert abs(values[3] - counts.size / 2) < counts.size / 4


@pytest.mark.parametrize(
    "given",
    [
        Cells(np.array([0], dtype=np.int32), np.array([1])),
        Cells(np.array([0]), np.array([1.0])),  # type: ignore[arg-type]
        Cells(np.array([0, 1]), np.array([1])),
        Cells(np.array([-1]), np.array([1])),
        Cells(np.array([3]), np.array([1])),
        Cells(np.array([1, 0]), np.array([1, 1])),
        Cells(np.array([1, 1]), np.array([1, 1])),
        Cells(np.array([0]), np.array([0])),
        Cells(np.array([0]), np.array([MOST_ROWS + 1])),
        Cells(np.array([0, 1]), np.array([MOST_ROWS, 1])),
        Cells(np.array([0, 1, 2]), np.array([1 << 62, 1 << 62, 1 << 63 - 1])),
    ],
)
def test_cells_that_do_not_fit(given: Cells) -> None:
    assert not given.fit(3)


def test_cells_that_fit() -> None:
    assert cells(()).fit(3)
    assert cells((0, 4, 1)).fit(3)
    assert cells((0, 4, 1)).dense(3).tolist() == [0, 4, 1]
    assert Cells(np.array([0]), np.array([MOST_ROWS])).fit(1)


# ---- words, sizes, prices ----------------------------------------------------------------------------------


def test_two_words_a_choice_whatever_the_rows_are() -> None:
    for counts in ((), (1,), (0, 5, 0, 1000, 3), tuple(range(40))):
        entropy = SeededEntropy("words")
        RankChoice.for_share(F(1), "rho", THREE, 40, 1).draw(cells((*counts, *([0] * (40 - len(counts))))), entropy)
        assert (entropy.words_read, entropy.extensions) == (2 * 9, 0)


def test_a_place_in_a_run_is_uniform_also_where_words_do_not_divide() -> None:
    """A word that would favour a place is thrown away: 2^64 mod 3 = 1, so word 0 is."""
    last = (1 << 64) - 1
    for words, expected in (([0, 5], 0), ([1], 0), ([last // 3], 0), ([last // 3 + 1], 1), ([last], 2)):
        entropy = ScriptedEntropy(words)
        assert ranks._below(3, entropy) == expected
        assert entropy.unread == 0
    assert ranks._below(1, ScriptedEntropy([last])) == 0


@pytest.mark.parametrize("epsilon", [F(1, 10**k) for k in (3, 6, 9, 11, 12, 15, 30)])
def test_however_small_epsilon_is_no_score_overflows(epsilon: Fraction) -> None:
    levels = (F(0), F(1, 10000), F(4999, 10000), F(9999, 10000), F(1))
    mechanism = RankChoice.for_share(epsilon, "epsilon", levels, 2, 7)
    assert max(mechanism.reach(place) for place in range(5)) <= FARTHEST
    full = Cells(np.array([0, 1]), np.array([MOST_ROWS // 2, MOST_ROWS // 2]))
    with np.errstate(over="raise", invalid="raise"):
        for given in (full, cells((0, 0)), cells((1, 0))):
            drawn = mechanism.draw(given, SeededEntropy("small"))
            assert all(0 <= position < mechanism.positions for position in drawn)
    worst = 10_000 * (FARTHEST + MOST_ROWS)
    assert worst < 1 << 63


def test_a_share_is_divided_and_never_exceeded() -> None:
    for levels in (MEDIAN, TWO, THREE, ENDS):
        pure = RankChoice.for_share(F(1, 3), "epsilon", levels, 10, 2)
        assert pure.epsilon() == F(1, 3)
        rho = RankChoice.for_share(F(1, 3), "rho", levels, 10, 2)
        assert F(1, 3) - F(1, 10**9) < rho.rho() <= F(1, 3)
    assert choice(MEDIAN, 2).epsilon() == 1 + 2 * HALF
    assert choice(MEDIAN, 2).rho() == (F(1) + 2 * F(1, 4)) / 8
    assert choice(MEDIAN, 2).event() == {
        "mechanism": "rank_choice",
        "levels": "1/2",
        "rows": "1",
        "estimates": "1",
        "bars": "1/2",
    }


@pytest.mark.parametrize("value", [F(2), F(1, 3), F(4), F(1, 10**30), F(0)])
def test_a_root_is_never_above(value: Fraction) -> None:
    root = root_below(value)
    assert root**2 <= value < (root + F(1, 1 << 64)) ** 2


@pytest.mark.parametrize(
    "levels",
    [
        (),
        (HALF, HALF),
        (HALF, F(1, 4)),
        (F(-1, 10),),
        (F(11, 10),),
        (F(1, 3),),
        tuple(F(i, 1000) for i in range(MOST_LEVELS + 1)),
    ],
)
def test_levels_that_are_refused(levels: tuple[Fraction, ...]) -> None:
    depths = len(levels).bit_length()
    with pytest.raises(ValueError, match="levels"):
        RankChoice(levels, 3, 1, (F(1),) * depths, (F(1),) * depths)


@pytest.mark.parametrize(
    ("estimates", "bars"), [((F(1),), (F(1), F(1))), ((F(1), F(1)), (F(1),)), ((F(0),), (F(1),)), ((F(1),), (F(-1),))]
)
def test_prices_that_are_refused(estimates: Any, bars: Any) -> None:
    with pytest.raises(ValueError, match="epsilon"):
        RankChoice(MEDIAN, 3, 1, estimates, bars)


def test_levels_are_chosen_from_the_middle() -> None:
    levels = tuple(F(i, 10) for i in range(1, 10))
    nodes = choice(levels, 3).nodes()
    assert [node.depth for node in nodes] == [3, 2, 1, 2, 0, 3, 2, 1, 2]
    for place, node in enumerate(nodes):
        assert node.below == (levels[node.left] if node.left is not None else 0)
        assert node.above == (levels[node.right] if node.right is not None else 1)
        assert node.below < levels[place] < node.above
        assert node.slope == max(node.inside, 1 - node.inside)
    for depth in range(4):
        spans = sorted((node.below, node.above) for node in nodes if node.depth == depth)
        assert all(one[1] <= two[0] for one, two in pairwise(spans))
