"""Bounds that are found: how far they reach, what is clamped, and the exact law of a small release."""

from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction as F
from itertools import product
from math import exp, log
from typing import Any

import numpy as np
import pytest

from sfumato.accounting.events import Event, event
from sfumato.audit import laws
from sfumato.errors import Refused
from sfumato.kernel import widths
from sfumato.kernel.certify import MOST_COUNTED, certify
from sfumato.kernel.gate import Receipt, release
from sfumato.kernel.mechanisms import found_bounds
from sfumato.kernel.mechanisms.additive import Additive, DiscreteGaussian, DiscreteLaplace
from sfumato.kernel.mechanisms.found_bounds import BoundedSum, choose_edge, clamped, counts_around, larger
from sfumato.kernel.mechanisms.protocol import CellCounts, Weighed
from sfumato.plan.counting import SumInCell
from sfumato.plan.expressions import Column
from sfumato.plan.nodes import Magnitudes, RangeKey, UnboundedSum
from tests.entropy import SeededEntropy
from tests.kernel.laws import chi_square, mutant
from tests.kernel.plans import BY_SEX, PERSON, measure, plan, schema

AGES = Magnitudes(Column("age"), 0, 12)
THIRD = F(33, 100)


def weighed(values: Any, cells: Magnitudes = AGES) -> Weighed:
    """What an engine returns for these whole numbers."""
    found: dict[int, list[int]] = defaultdict(list)
    for value in values:
        size = next((j + 1 for j, edge in enumerate(cells.edges) if 0 < abs(value) <= edge), 0)
        found[len(cells.edges) + (size if value > 0 else -size)].append(int(value))
    places = sorted(found)
    counts = np.array([len(found[place]) for place in places], dtype=np.int64)
    return Weighed(CellCounts(np.array(places, dtype=np.int64), counts), tuple(sum(found[place]) for place in places))


def mechanism(epsilon: Any = 1, *, rows: int = 1, currency: Any = "epsilon", cells: Magnitudes = AGES) -> BoundedSum:
    return BoundedSum.for_share(F(epsilon), currency, rows, rows**2, cells.edges, THIRD)


# ---- the grid


def test_edges_are_quarters_of_octaves_rounded_down() -> None:
    assert AGES.edges[:13] == (1, 1, 1, 1, 2, 2, 2, 3, 4, 4, 5, 6, 8)
    assert AGES.edges[-1] == 1 << 12
    assert AGES.size == 2 * (4 * 12 + 1) + 1
    assert Magnitudes(Column("x"), -30, 90).step == F(1, 2**30)


@pytest.mark.parametrize("octaves", [0, 91])
def test_magnitudes_end_somewhere(octaves: int) -> None:
    with pytest.raises(ValueError, match="octaves"):
        Magnitudes(Column("x"), 0, octaves)


@pytest.mark.parametrize("finding", [0, 1, F(3, 2)])
def test_finding_takes_a_part_and_not_all(finding: Any) -> None:
    with pytest.raises(ValueError, match="part of the share"):
        UnboundedSum(AGES, F(finding))


# ---- what an engine may answer


def test_cells_fit_when_sums_belong_to_their_cells() -> None:
    assert weighed([]).fit(AGES.edges)
    good = weighed([-7, -7, 0, 3, 90, 1, 1])
    assert good.fit(AGES.edges)
    for place, total in enumerate(good.sums):
        for wrong in (-total - 1 if total <= 0 else -total, 10**9, -(10**9), float(total), np.int64(total)):
            sums = (*good.sums[:place], wrong, *good.sums[place + 1 :])
            assert not Weighed(good.cells, sums).fit(AGES.edges), (place, wrong)
    assert not Weighed(good.cells, good.sums[1:]).fit(AGES.edges)
    assert not Weighed(CellCounts(np.array([AGES.size]), np.array([1])), (0,)).fit(AGES.edges)


@pytest.mark.parametrize(("low", "high"), [(0, 0), (0, 90), (-4, 4), (-107, 2), (-2, 0)])
def test_clamping_cells_is_clamping_rows_whose_edges_are_the_bounds(low: int, high: int) -> None:
    values = [-100, -7, -4, -3, -1, 0, 0, 1, 2, 3, 4, 5, 89, 90, 91, 4000]
    assert clamped(weighed(values), low, high, AGES.edges) == sum(min(max(value, low), high) for value in values)


@pytest.mark.parametrize("values", [(), (0, 0), (1, -1, 2, -2, 3, 5), (4, 4, -4000, 90, 0, 7, -7)])
def test_rows_are_counted_by_size(values: tuple[int, ...]) -> None:
    found, middle = larger(weighed(values).cells, len(AGES.edges)), len(AGES.edges)
    assert found[0] == sum(value != 0 for value in values)
    assert found[1:].tolist() == [sum(abs(value) > edge for value in values) for edge in AGES.edges]
    for anchor, clamp in ((0, 0), (0, 47), (8, 8), (8, 12), (12, 48)):
        low = AGES.edges[anchor - 1] if anchor else 0
        most = AGES.edges[clamp]
        around = counts_around(weighed(values).cells, middle, anchor, clamp).tolist()
        sizes = [sum(side * value > most for value in values) for side in (-1, 1)]
        inside = [sum(low < side * value <= most for value in values) for side in (-1, 1)]
        assert around == [sizes[0], inside[0], inside[1], sizes[1]]


def test_one_row_moves_one_count_and_every_size_by_one_at_most() -> None:
    """All rows there are, on a small grid, beside others; all anchors and clamps."""
    cells, edges = Magnitudes(Column("x"), 0, 2), 9
    for value in range(-4, 5):
        sides = [weighed(values, cells).cells for values in ((-4, -1, 0, 2, 3), (-4, -1, 0, 2, 3, value))]
        few, many = (larger(side, edges) for side in sides)
        assert set(many - few) <= {0, 1}
        for anchor in range(edges):
            for clamp in range(anchor, edges):
                less, more = (counts_around(side, edges, anchor, clamp) for side in sides)
                assert np.abs(more - less).sum() <= 1


# ---- where the clamp comes to lie


@pytest.mark.parametrize("currency", ["epsilon", "rho"])
def test_the_clamp_lies_near_the_largest_values(currency: Any) -> None:
    """Beyond few rows, seldom an octave beyond the last and hardly ever three; also for negative values."""
    rng, entropy = np.random.default_rng(3), SeededEntropy(f"near/{currency}")
    ages = rng.integers(17, 91, 5_000)
    for values in (ages, -ages, np.concatenate([ages, -ages, np.zeros(100, dtype=np.int64)])):
        made, data = mechanism(currency=currency), weighed(values)
        found = [made.find(data, entropy) for _ in range(200)]
        clamps = np.array([AGES.edges[one[1]] for one in found])
        assert np.median(clamps) in (64, 76, 90, 107)
        assert (clamps > 2 * 90).mean() < 0.2
        assert (clamps > 8 * 90).mean() < 0.05
        assert (clamps < 50).mean() < 0.02
        assert all(one[0] <= one[1] for one in found)


@pytest.mark.parametrize("currency", ["epsilon", "rho"])
def test_no_clamp_lies_below_its_anchor(currency: Any) -> None:
    """There a row would be counted twice: also where the price of a choice is so small that all edges weigh alike."""
    rows, entropy = larger(weighed([3, -5, 90]).cells, len(AGES.edges)), SeededEntropy("below")
    for epsilon in (F(1), F(1, 10**30)):
        free = np.zeros(len(AGES.edges), dtype=np.int64)
        chosen = [choose_edge(rows, 20, epsilon, 1, free, currency, entropy) for _ in range(60)]
        assert min(chosen) >= 20
        assert max(chosen) < len(AGES.edges)


def test_more_rows_are_sought_for_less() -> None:
    assert widths.rows_at_anchor(F(1), 49) == 22  # 2 ln(49 / 0.001)
    assert widths.rows_at_anchor(F(1, 10), 49) == 216
    assert (widths.rows_at_clamp(F(1)), widths.rows_at_clamp(F(1, 10))) == (5, 50)
    assert widths.rows_of_a_cell(F(1), 64) == 32


# ---- price and record


@pytest.mark.parametrize("rows", [1, 20])
def test_all_rounds_are_paid(rows: int) -> None:
    pure, zcdp = mechanism(rows=rows), mechanism(rows=rows, currency="rho")
    assert (pure.anchor, pure.clamp) == (F(7, 100) / rows, F(18, 100) / rows)
    assert pure.counting.law == DiscreteLaplace(F(100, 8) * rows)
    assert pure.noise(90) == DiscreteLaplace(F(100, 67) * 90 * rows)
    assert rows**2 * zcdp.anchor**2 / 8 <= F(7, 100)
    assert rows**2 * zcdp.clamp**2 / 8 == pytest.approx(0.18, abs=1e-9)
    assert zcdp.counting.law == DiscreteGaussian(F(100, 16) * rows**2)
    assert zcdp.noise(90) == DiscreteGaussian(F(90 * rows) ** 2 / (2 * F(67, 100)))
    assert pure.cost("epsilon") == 1
    assert 1 - F(1, 10**12) < zcdp.cost("rho") <= 1
    parts = rows * (pure.anchor + pure.clamp) + pure.counting.cost("epsilon")
    assert pure.noise(90).cost("epsilon", 90 * rows) + parts == 1
    for made, other in ((pure, "rho"), (zcdp, "epsilon")):
        with pytest.raises(Refused, match=f"not paid in {other}"):
            made.cost(other)  # type: ignore[arg-type]
    assert pure.event() == {
        "mechanism": "bounded_sum",
        "rows": str(rows),
        "epsilon": "1",
        "finding": "33/100",
        "adding": "67/100",
    }
    assert list(zcdp.event())[2] == "rho"
    assert event(pure.event()) == Event("pure", F(1))
    assert 0 <= event(zcdp.event()).amount - zcdp.cost("rho") < F(1, 2**120)


def test_rows_that_lie_in_several_groups_need_less_gaussian_noise() -> None:
    """Two rows in one group and one in another: 5, the square of no whole number, in all rounds."""
    shared = BoundedSum.for_share(F(1), "rho", 3, 5, AGES.edges, THIRD)
    assert 5 * shared.anchor**2 / 8 == pytest.approx(0.07, abs=1e-9)
    assert shared.counting.law == DiscreteGaussian(F(5 * 100, 16))
    assert shared.noise(90) == DiscreteGaussian(5 * F(90) ** 2 / (2 * F(67, 100)))
    assert 1 - F(1, 10**12) < shared.cost("rho") <= 1
    assert (shared.event()["rows"], shared.event()["rows_squared"]) == ("3", "5")
    assert 0 <= event(shared.event()).amount - shared.cost("rho") < F(1, 2**120)
    pure = BoundedSum.for_share(F(1), "epsilon", 3, 5, AGES.edges, THIRD)
    assert (pure.anchor, pure.counting.law) == (F(7, 300), DiscreteLaplace(F(300, 8)))


@pytest.mark.parametrize(
    ("cells", "prices"),
    [(3, (F(1), F(1), F(1))), (4, (F(0), F(1), F(1))), (4, (F(1), F(0), F(1))), (4, (F(1), F(1), F(0)))],
)
def test_what_is_no_sum_of_these_cells_does_not_exist(cells: int, prices: tuple[F, F, F]) -> None:
    anchor, clamp, adding = prices
    with pytest.raises(ValueError, match="a price of its own"):
        BoundedSum(AGES.edges, anchor, clamp, Additive(DiscreteLaplace(F(1)), 1, 1, cells), adding)


# ---- certified and released


def asked(unit: Any = None, share: Any = 1, finding: Any = THIRD, name: Any = "laplace", **changes: Any) -> Any:
    one = measure(UnboundedSum(AGES, F(finding)), share=share, mechanism=name)
    return plan(one, unit=unit, **changes)


def test_certify_derives_rows_cost_and_noise() -> None:
    certified = certify(asked(PERSON), schema(PERSON), "epsilon")
    assert certified.cost.amount == 1
    assert certified.releases[0].mechanism == mechanism(rows=20)
    assert certified.releases[0].sensitivity.l1 == 20
    assert certified.events[0]["mechanism"] == "bounded_sum"
    gaussian = certify(asked(name="gaussian"), schema(), "rho")
    assert 1 - F(1, 10**12) < gaussian.cost.amount <= 1
    assert gaussian.releases[0].mechanism == mechanism(currency="rho")


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (asked(name="gaussian"), "not paid in epsilon"),
        (asked(keys=(RangeKey(Column("age"), 0, MOST_COUNTED // AGES.size + 1),)), "cells"),
        (asked(keys=(AGES,)), "unknown Magnitudes"),
        (plan(measure(SumInCell())), "adds up cells"),
    ],
)
def test_certify_refuses(wrong: Any, why: str) -> None:
    with pytest.raises(Refused, match=why):
        certify(wrong, schema(), "epsilon")


def test_unknown_columns_are_refused() -> None:
    with pytest.raises(Refused, match="height"):
        certify(plan(measure(UnboundedSum(Magnitudes(Column("height"), 0, 9), THIRD))), schema(), "epsilon")


def test_the_gate_takes_weighed_cells_and_nothing_else() -> None:
    certified = certify(asked(keys=(BY_SEX,)), schema(), "epsilon")
    rng = np.random.default_rng(5)
    entries = [weighed(rng.integers(17, 91, 20_000)), weighed([])]
    done = release(certified, Receipt(1, certified.digest), [(entry,) for entry in entries], SeededEntropy("gate"))
    (first,), (second,) = done.values
    assert len(first) == len(second) == 7
    assert AGES.edges[first[1]] >= 64
    assert abs(first[-1] - sum(entries[0].sums)) < 0.05 * sum(entries[0].sums)
    assert sum(first[2:6]) > 1_000
    assert abs(sum(second[2:6])) < 600
    for wrong in (5, entries[0].cells, Weighed(entries[0].cells, entries[0].sums[1:])):
        with pytest.raises(Refused, match="counts and sums"):
            release(certified, Receipt(1, certified.digest), [(wrong,), (entries[1],)], SeededEntropy("wrong"))


# ---- the exact law of a small release

TINY = (1, 2)  # edges: five cells from -2 to 2
TOTALS = 12
PRICE = 6
Sought = tuple[Any, Any, Any]  # rows at the anchor, at the clamp, and what a cell farther costs
FEW: Sought = (2, 1, 16)  # so that one row decides
NEIGHBOURS = [
    ((2, 2, 2), (2, 2)),
    ((1, 2, 2), (1, 2)),
    ((1, 1, 2), (1, 1)),
    ((-2, -2, 1), (-2, -2)),
    ((2, 2, 0), (2, 2)),
    ((-2,), ()),
]


def tiny(rows: int = 1) -> BoundedSum:
    return BoundedSum(TINY, F(1, rows), F(1, rows), Additive(DiscreteLaplace(F(rows, 2)), rows, rows**2, 4), F(2))


def seek(monkeypatch: pytest.MonkeyPatch, sought: Sought) -> None:
    for name, said in zip(("rows_at_anchor", "rows_at_clamp", "rows_of_a_cell"), sought, strict=True):
        monkeypatch.setattr(found_bounds, name, lambda *_, said=said: said)


def choice(values: tuple[int, ...], first: int, wanted: int, farther: int, *, pure: bool = True) -> list[float]:
    """Of both edges, from the definition: how far the wanted number is from those beyond a cell's ends."""
    beyond = [sum(abs(value) > edge for value in values) for edge in (0, *TINY)]
    scores = [-max(beyond[j + 1] - wanted, wanted - beyond[j], 0) - farther / 64 * (j - first) for j in range(2)]
    law = laws.permute_and_flip if pure else laws.exponential
    chances = law(0.5, scores[first:])
    return [0.0] * first + list(chances.values())


def law(
    values: tuple[int, ...],
    *,
    near: tuple[int, ...] = (),
    sought: tuple[int, int, int] = FEW,
    most: Callable[[int], int] = lambda size: size,
    counted: Callable[[list[int]], list[int]] = lambda around: around,
) -> dict[Any, float]:
    """P(release) for every release near `near`; `most` and `counted` are what twins do otherwise."""
    found = tiny()
    chances: dict[Any, float] = defaultdict(float)
    at_anchor, at_clamp, farther = sought
    for anchor, likely in enumerate(choice(values, 0, at_anchor, 0)):
        for clamp, here in enumerate(choice(values, anchor, at_clamp, farther)):
            if here == 0:
                continue
            around = counted(_around(values, anchor, clamp))
            inside = sum(min(max(value, -TINY[clamp]), TINY[clamp]) for value in values)
            scale = found.noise(most(TINY[clamp])).scale
            for noisy in product(*(range(count - 1, count + 2) for count in _around(near or values, anchor, clamp))):
                weight = likely * here
                for one, count in zip(noisy, around, strict=True):
                    weight *= _laplace(F(1, 2), one - count)
                for total in range(-TOTALS, TOTALS + 1):
                    chances[anchor, clamp, *noisy, total] += weight * _laplace(scale, total - inside)
    return chances


def _around(values: tuple[int, ...], anchor: int, clamp: int) -> list[int]:
    low, most = (0, *TINY)[anchor], TINY[clamp]
    return [
        sum(value < -most for value in values),
        sum(-most <= value < -low for value in values),
        sum(low < value <= most for value in values),
        sum(value > most for value in values),
    ]


def _laplace(scale: F, k: int) -> float:
    q = exp(-1 / float(scale))
    return (1 - q) / (1 + q) * q ** abs(k)


def worst(one: dict[Any, float], other: dict[Any, float]) -> float:
    """The largest log-ratio, among releases that are no more than dust."""
    keys = {key for law in (one, other) for key, chance in law.items() if chance > 1e-12}
    return max(
        log(one[key] / other[key]) if one.get(key, 0) > 0 and other.get(key, 0) > 0 else float("inf") for key in keys
    )


def both_ways(more: tuple[int, ...], less: tuple[int, ...], **twin: Any) -> float:
    sides = [law(values, near=more, **twin) for values in (more, less)]
    return max(worst(*sides), worst(*reversed(sides)))


@pytest.mark.parametrize(("more", "less"), NEIGHBOURS)
def test_the_exact_law_keeps_the_promise(more: tuple[int, ...], less: tuple[int, ...]) -> None:
    assert tiny().cost("epsilon") == PRICE
    assert both_ways(more, less) <= PRICE + 1e-9


def test_the_promise_is_used() -> None:
    """One row of the largest size moves counts and sum by all that is paid for them, and the choices besides."""
    assert max(both_ways(more, less) for more, less in NEIGHBOURS) > 4.5


@pytest.mark.parametrize("first", [0, 1])
def test_choices_in_rho_have_a_loss_of_bounded_range(first: int) -> None:
    """From the least to the largest log-ratio it is at most ε of a row: ε²/8 in ρ."""
    for more, less in NEIGHBOURS:
        for wanted in range(4):
            one, other = (choice(values, first, wanted, 16, pure=False)[first:] for values in (more, less))
            ratios = [log(a / b) for a, b in zip(one, other, strict=True)]
            assert max(ratios) - min(ratios) <= 1 + 1e-9


def test_noise_for_one_step_is_caught() -> None:
    assert both_ways((2, 2, 2), (2, 2), most=lambda _: 1) > PRICE


def test_counting_a_row_in_two_places_is_caught() -> None:
    def twice(around: list[int]) -> list[int]:
        below, low, high, above = around
        return [below, low, high + above, above]

    more, less = (2, 2, 2, 2), (2, 2, 2)
    assert both_ways(more, less) <= PRICE + 1e-9
    apart = [sum(abs(a - b) for a, b in zip(twice(_around(more, 0, 0)), twice(_around(less, 0, 0)), strict=True))]
    assert apart == [2]
    assert both_ways(more, less, counted=twice) > both_ways(more, less)


def test_a_clamp_from_the_data_itself_is_caught() -> None:
    """The largest size there is, in place of a choice: without the only row of size 2 no run gives that clamp."""
    sides = [{max(map(abs, values)): 1.0} for values in ((1, 1, 2), (1, 1))]
    assert worst(*sides) == float("inf")


def tiny_cells(values: tuple[int, ...]) -> Weighed:
    counts = np.array([values.count(value) for value in range(-2, 3)])
    kept = np.flatnonzero(counts)
    return Weighed(CellCounts(kept, counts[kept]), tuple((int(place) - 2) * int(counts[place]) for place in kept))


def p_value(made: BoundedSum, values: tuple[int, ...], sought: tuple[int, int, int] = FEW, draws: int = 4_000) -> float:
    """Of draws against the law: both places, one of the counts, and the total."""
    entropy = SeededEntropy("law")
    chances = {
        (anchor, clamp, near, total): likely
        * here
        * _laplace(F(1, 2), near - _around(values, anchor, clamp)[2])
        * _laplace(F(TINY[clamp], 2), total - sum(min(max(value, -TINY[clamp]), TINY[clamp]) for value in values))
        for anchor, likely in enumerate(choice(values, 0, sought[0], 0))
        for clamp, here in enumerate(choice(values, anchor, *sought[1:]))
        for near, total in product(range(-2, 6), range(-TOTALS, TOTALS + 1))
    }
    chances = {key: chance for key, chance in chances.items() if chance > 1e-3}
    seen = dict.fromkeys([*chances, "else"], 0)
    data = tiny_cells(values)
    for _ in range(draws):
        anchor, clamp, _, _, near, _, total = made.find(data, entropy)
        key = (anchor, clamp, near, total)
        seen[key if key in chances else "else"] += 1
    return chi_square(list(seen.values()), [*chances.values(), 1 - sum(chances.values())])


@pytest.mark.slow
def test_draws_follow_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    for sought in (FEW, (1, 2, 0), (0, 0, 64)):
        seek(monkeypatch, sought)
        for values in ((1, 2, 2), (-2, 1)):
            assert p_value(tiny(), values, sought) > 1e-6


TWINS = {
    "noise for one step": ("counting.l1 * most, counting.l2_squared * most**2", "counting.l1, counting.l2_squared"),
    "every choice at twice its price": ("law(epsilon, Fraction(FINE))", "law(2 * epsilon, Fraction(FINE))"),
    "the clamp of the rows themselves": (
        "clamp = choose_edge(rows, anchor, self.clamp, sought, farther * (places - anchor), self.currency, entropy)",
        "clamp = max(anchor, int(np.flatnonzero(rows[:-1])[-1]))",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("twin", TWINS)
def test_draws_of_twins_do_not(twin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = mutant(found_bounds, *TWINS[twin])
    seek(monkeypatch, FEW)
    for name in ("rows_at_anchor", "rows_at_clamp", "rows_of_a_cell"):
        monkeypatch.setattr(broken, name, getattr(found_bounds, name))
    made = broken.BoundedSum(TINY, F(1), F(1), Additive(DiscreteLaplace(F(1, 2)), 1, 1, 4), F(2))
    assert p_value(made, (1, 2, 2)) < 1e-6
