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
from sfumato.errors import Refused
from sfumato.kernel import widths
from sfumato.kernel.certify import MOST_COUNTED, certify
from sfumato.kernel.gate import Receipt, release
from sfumato.kernel.mechanisms import found_bounds
from sfumato.kernel.mechanisms.additive import Additive, DiscreteGaussian, DiscreteLaplace
from sfumato.kernel.mechanisms.found_bounds import BoundedSum, clamped
from sfumato.kernel.mechanisms.protocol import CellCounts, Weighed
from sfumato.plan.counting import SumInCell
from sfumato.plan.expressions import Column
from sfumato.plan.nodes import Magnitudes, RangeKey, UnboundedSum
from tests.entropy import SeededEntropy
from tests.kernel.laws import chi_square, mutant
from tests.kernel.plans import BY_SEX, PERSON, measure, plan, schema

AGES = Magnitudes(Column("age"), 0, 12)
TENTH = F(1, 10)


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
    return BoundedSum.for_share(F(epsilon), currency, rows, rows**2, cells.edges, TENTH)


def exact(values: Any, found: BoundedSum) -> tuple[int, int, int, int]:
    """The bounds when the counts have no noise."""
    return bounds_of(found, weighed(values).cells.dense(AGES.size).astype(np.float64))


def bounds_of(found: BoundedSum, noisy: Any) -> tuple[int, int, int, int]:
    return widths.best_bounds(noisy, found.counting.law, found.edges, widths.deviation(found.noise(1)))


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


# ---- how far values reach


def test_bounds_follow_the_values() -> None:
    rng = np.random.default_rng(3)
    ages = rng.integers(17, 91, 5_000)
    assert exact(ages, mechanism())[:2] == (0, 90)
    assert exact(-ages, mechanism(currency="rho"))[:2] == (-90, 0)
    both = np.concatenate([ages, -ages // 3, np.zeros(100, dtype=np.int64)])
    low, high, _, counted = exact(both, mechanism())
    assert (low, high, counted) == (-32, 90, 10_100)


def test_what_lies_beyond_is_bounded_from_above() -> None:
    """Thirty rows far above are not worth the noise, and noise of twenty counts hides nearly 130 more."""
    low, high, beyond, counted = exact([50] * 5_000 + [300] * 30, mechanism())
    assert (low, high, counted) == (0, 53, 5_000)
    assert 30 + 100 < beyond < 30 + 140
    assert exact([-50] * 5_000, mechanism())[2] < 140


def test_a_dear_cell_is_clipped_although_it_is_seen() -> None:
    """All of the share for counting, next to nothing for the sum: its noise is worth more than what is clipped."""
    found = BoundedSum(Additive(DiscreteLaplace(F(1)), 1, 1, AGES.size), F(1, 100), AGES.edges)
    low, high, beyond, counted = exact([50] * 5_000 + [59] * 30, found)
    assert (low, high, counted) == (0, 53, 5_030)
    assert 30 < beyond < 60


def test_nothing_is_found_among_few_rows_or_zeros() -> None:
    assert exact([90] * 50, mechanism()) == (0, 0, 0, 0)
    assert exact([0] * 5_000, mechanism()) == (0, 0, 0, 5_000)
    assert mechanism().noise(0) == mechanism().noise(1)


def test_many_thin_cells_together_are_enough() -> None:
    """No cell of a wide distribution passes alone, but four or sixteen of them do."""
    found = mechanism()
    for rows in (60, 100):
        wide = [edge for edge in AGES.edges[12:45] for _ in range(rows)]
        assert max(weighed(wide).cells.counts) < widths._thresholds(found.counting.law, 1e-6)[0]
        assert exact(wide, found)[1] == 2**11


def test_beyond_a_certain_cell_less_evidence_is_enough() -> None:
    found = mechanism()
    assert exact([50] * 5_000 + [100] * 80, found)[1] == 107
    assert exact([50] * 5_000 + [4000] * 80, found)[1] == 53


@pytest.mark.parametrize("currency", ["epsilon", "rho"])
def test_empty_cells_hardly_ever_pass(currency: Any) -> None:
    found = mechanism(currency=currency)
    entropy = SeededEntropy(f"empty/{currency}")
    reached = [
        widths._reach(np.asarray(found.counting.law.draw(49, entropy), dtype=np.float64), found.counting.law, AGES.size)
        for _ in range(2_000)
    ]
    assert not any(reached)


# ---- price and record


@pytest.mark.parametrize("rows", [1, 20])
def test_both_rounds_are_paid(rows: int) -> None:
    pure, zcdp = mechanism(rows=rows), mechanism(rows=rows, currency="rho")
    assert pure.counting.law == DiscreteLaplace(F(10 * rows))
    assert pure.noise(90) == DiscreteLaplace(F(10, 9) * 90 * rows)
    assert zcdp.counting.law == DiscreteGaussian(F(5 * rows**2))
    assert zcdp.noise(90) == DiscreteGaussian(F(90 * rows) ** 2 / (2 * F(9, 10)))
    assert pure.cost("epsilon") == zcdp.cost("rho") == 1
    assert pure.noise(90).cost("epsilon", 90 * rows) + pure.counting.cost("epsilon") == 1
    for made, other in ((pure, "rho"), (zcdp, "epsilon")):
        with pytest.raises(Refused, match=f"not paid in {other}"):
            made.cost(other)  # type: ignore[arg-type]
    assert pure.event() == {
        "mechanism": "bounded_sum",
        "rows": str(rows),
        "epsilon": "1",
        "counting": "1/10",
        "adding": "9/10",
    }
    assert list(zcdp.event())[2] == "rho"
    assert event(pure.event()) == Event("pure", F(1))
    assert event(zcdp.event()) == Event("zcdp", F(1))


def test_rows_that_lie_in_several_groups_need_less_gaussian_noise() -> None:
    """Two rows in one group and one in another: 5, the square of no whole number, in both rounds."""
    shared = BoundedSum.for_share(F(1), "rho", 3, 5, AGES.edges, TENTH)
    assert shared.counting.law == DiscreteGaussian(F(25))
    assert shared.noise(90) == DiscreteGaussian(5 * F(90) ** 2 / (2 * F(9, 10)))
    assert shared.cost("rho") == 1
    assert (shared.event()["rows"], shared.event()["rows_squared"]) == ("3", "5")
    assert event(shared.event()) == Event("zcdp", F(1))
    pure = BoundedSum.for_share(F(1), "epsilon", 3, 5, AGES.edges, TENTH)
    assert (pure.counting.law, pure.noise(90)) == (DiscreteLaplace(F(30)), DiscreteLaplace(F(300)))


@pytest.mark.parametrize(("cells", "adding"), [(7, F(1)), (AGES.size, F(0))])
def test_what_is_no_sum_of_these_cells_does_not_exist(cells: int, adding: F) -> None:
    with pytest.raises(ValueError, match="every cell of magnitudes"):
        BoundedSum(Additive(DiscreteLaplace(F(1)), 1, 1, cells), adding, AGES.edges)


# ---- certified and released


def asked(unit: Any = None, share: Any = 1, finding: Any = TENTH, name: Any = "laplace", **changes: Any) -> Any:
    one = measure(UnboundedSum(AGES, F(finding)), share=share, mechanism=name)
    return plan(one, unit=unit, **changes)


def test_certify_derives_rows_cost_and_noise() -> None:
    certified = certify(asked(PERSON), schema(PERSON), "epsilon")
    assert certified.cost.amount == 1
    assert certified.releases[0].mechanism == mechanism(rows=20)
    assert certified.releases[0].sensitivity.l1 == 20
    assert certified.events[0]["mechanism"] == "bounded_sum"
    gaussian = certify(asked(name="gaussian"), schema(), "rho")
    assert gaussian.cost.amount == 1
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
        certify(plan(measure(UnboundedSum(Magnitudes(Column("height"), 0, 9), TENTH))), schema(), "epsilon")


def test_the_gate_takes_weighed_cells_and_nothing_else() -> None:
    certified = certify(asked(keys=(BY_SEX,)), schema(), "epsilon")
    rng = np.random.default_rng(5)
    entries = [weighed(rng.integers(17, 91, 20_000)), weighed([])]
    done = release(certified, Receipt(1, certified.digest), [(entry,) for entry in entries], SeededEntropy("gate"))
    (first,), (second,) = done.values
    assert first[:2] == (0, 90)
    assert abs(first[2] - sum(entries[0].sums)) < 20 * 100
    assert second[:2] == (0, 0)
    for wrong in (5, entries[0].cells, Weighed(entries[0].cells, entries[0].sums[1:])):
        with pytest.raises(Refused, match="counts and sums"):
            release(certified, Receipt(1, certified.digest), [(wrong,), (entries[1],)], SeededEntropy("wrong"))


# ---- the exact law of a small release

TINY = (1, 2)  # edges: five cells from -2 to 2
TOTALS = 12
Choose = Callable[[BoundedSum, Any, tuple[int, ...]], tuple[int, ...]]


def tiny(rows: int = 1) -> BoundedSum:
    return BoundedSum(Additive(DiscreteLaplace(F(rows, 4)), rows, rows**2, 5), F(2), TINY)


def as_noisy_counts_say(found: BoundedSum, noisy: Any, values: tuple[int, ...]) -> tuple[int, ...]:
    del values
    return bounds_of(found, noisy)


def dense(values: tuple[int, ...]) -> list[int]:
    return [values.count(value) for value in range(-2, 3)]


def law(
    values: tuple[int, ...], choose: Choose = as_noisy_counts_say, *, near: tuple[int, ...] = ()
) -> dict[Any, float]:
    """P(release) for every release near `near`, from the mechanism's own pieces: counts, bounds, clamp, noise."""
    found, counts = tiny(), np.array(dense(values))
    kept = np.flatnonzero(counts)
    data = Weighed(CellCounts(kept, counts[kept]), tuple((int(place) - 2) * int(counts[place]) for place in kept))
    chances: dict[Any, float] = defaultdict(float)
    for noisy in product(*(range(count - 1, count + 2) for count in dense(near or values))):
        weight = 1.0
        for one, count in zip(noisy, counts.tolist(), strict=True):
            weight *= _laplace(found.counting.law.scale, one - count)
        low, high, *rest = choose(found, np.array(noisy, dtype=np.float64), values)
        inside, noise = clamped(data, low, high, TINY), found.noise(max(-low, high))
        for total in range(-TOTALS, TOTALS + 1):
            # As if the noisy counts were released too: all that is released follows from them and the sum.
            chances[noisy, low, high, *rest, total] += weight * _laplace(noise.scale, total - inside)
    return chances


def _laplace(scale: F, k: int) -> float:
    q = exp(-1 / float(scale))
    return (1 - q) / (1 + q) * q ** abs(k)


@pytest.fixture
def low_thresholds(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that two or three rows are enough to find bounds."""
    monkeypatch.setattr(widths, "FAILURE", 0.3)


def worst(one: dict[Any, float], other: dict[Any, float]) -> float:
    """The largest log-ratio, among releases that are no more than dust."""
    keys = {key for law in (one, other) for key, chance in law.items() if chance > 1e-12}
    return max(
        log(one[key] / other[key]) if one.get(key, 0) > 0 and other.get(key, 0) > 0 else float("inf") for key in keys
    )


NEIGHBOURS = [((2, 2, 2), (2, 2)), ((1, 2, 2), (1, 2)), ((-2, -2, 1), (-2, -2)), ((2, 2, 0), (2, 2))]


@pytest.mark.usefixtures("low_thresholds")
@pytest.mark.parametrize(("more", "less"), NEIGHBOURS)
def test_the_exact_law_keeps_the_promise(more: tuple[int, ...], less: tuple[int, ...]) -> None:
    laws = [law(values, near=more) for values in (more, less)]
    assert tiny().cost("epsilon") == 6
    assert len({key[1:3] for key in laws[0]}) > 2  # different bounds are found
    assert 4 <= max(worst(*laws), worst(*reversed(laws))) <= 6 + 1e-9


@pytest.mark.usefixtures("low_thresholds")
def test_a_bound_from_the_data_itself_is_caught() -> None:
    def exact_maximum(found: BoundedSum, noisy: Any, values: tuple[int, ...]) -> tuple[int, ...]:
        del found, noisy
        return min(0, *values), max(0, *values)

    assert worst(*(law(values, exact_maximum, near=(1, 1, 2)) for values in ((1, 1, 2), (1, 1)))) == float("inf")


@pytest.mark.usefixtures("low_thresholds")
def test_counting_a_person_once_for_every_cell_they_touch_is_caught() -> None:
    """Somebody with one row in each of two cells moves two counts: noise for one row does not cover them."""
    assert worst(*(law(values, near=(2, 2, 1, 2)) for values in ((2, 2, 1, 2), (2, 2)))) > 6 + 1
    assert tiny(rows=2).cost("epsilon") == 6  # with twice the noise two rows cost the same


def p_value(made: BoundedSum, chances: dict[Any, float]) -> float:
    entropy, seen = SeededEntropy("law"), dict.fromkeys([*chances, "else"], 0)
    data = Weighed(CellCounts(np.array([4]), np.array([3])), (6,))
    for _ in range(3_000):
        low, high, total, *_ = made.find(data, entropy)
        seen[(low, high, total) if (low, high, total) in chances else "else"] += 1
    return chi_square(list(seen.values()), [*chances.values(), 1 - sum(chances.values())])


@pytest.mark.slow
@pytest.mark.usefixtures("low_thresholds")
def test_draws_follow_the_law_and_less_noise_does_not() -> None:
    chances: dict[Any, float] = defaultdict(float)
    for (_, low, high, *_, total), chance in law((2, 2, 2)).items():
        chances[low, high, total] += chance
    assert sum(chances.values()) > 0.99
    assert p_value(tiny(), chances) > 1e-6
    twin = mutant(found_bounds, "size, counting = max(most, 1), self.counting", "size, counting = 1, self.counting")
    assert p_value(twin.BoundedSum(Additive(DiscreteLaplace(F(1, 4)), 1, 1, 5), F(2), TINY), chances) < 1e-6
