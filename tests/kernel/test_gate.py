"""The gate: one receipt, one opening; whole numbers in, noise added."""

from dataclasses import replace
from fractions import Fraction
from threading import Barrier, Thread
from typing import Any

import numpy as np
import pytest

from sfumato.errors import ReceiptUsed, Refused
from sfumato.kernel import gate
from sfumato.kernel.certify import MOST_GROUPS, Certified, CertifiedRelease, Sensitivity, certify
from sfumato.kernel.gate import Found, Receipt, Release, release
from sfumato.kernel.mechanisms import additive
from sfumato.kernel.mechanisms.protocol import CellCounts
from sfumato.kernel.mechanisms.running import Strategy
from sfumato.plan.counting import WHOLE_WEIGHT
from sfumato.plan.expressions import Column
from sfumato.plan.nodes import Cumulative, Grid, Histogram, MostFrequent, OpenKey, Quantiles, RangeKey, Selection, Sum
from tests.entropy import ScriptedEntropy, SeededEntropy
from tests.kernel.laws import chi_square, gaussian_cells, laplace_cells, mutant
from tests.kernel.plans import AGE, BY_SEX, PERSON, measure, plan, schema


def certified(share: Any = 1, **changes: Any) -> Certified:
    return certify(plan(measure(share=share), keys=(BY_SEX,), **changes), schema(), "epsilon")


INTEGERS = [(100,), (200,)]


def test_a_release_carries_its_entry_and_plain_integers() -> None:
    paid = certified()
    done = release(paid, Receipt(7, paid.digest), INTEGERS, SeededEntropy("plain"))
    assert done.entry == 7
    assert [len(row) for row in done.values] == [1, 1]
    assert all(type(value) is int for row in done.values for value in row)
    assert done == Release(7, done.values)


def test_a_receipt_opens_once() -> None:
    paid = certified()
    receipt = Receipt(1, paid.digest)
    release(paid, receipt, INTEGERS, SeededEntropy("once"))
    with pytest.raises(ReceiptUsed):
        release(paid, receipt, INTEGERS, ScriptedEntropy())


def test_a_receipt_for_another_plan_is_refused_and_stays_good_for_its_own() -> None:
    paid, other = certified(), certified(share=2)
    receipt = Receipt(1, other.digest)
    with pytest.raises(ReceiptUsed):
        release(paid, receipt, INTEGERS, ScriptedEntropy())
    assert release(other, receipt, INTEGERS, SeededEntropy("own"))


@pytest.mark.parametrize("integers", [[], [(1,)], [(1,)] * 3, [(1,), (2, 3)], [(), ()], [(1, 2), (3, 4)]])
def test_another_shape_is_refused_and_the_receipt_stays_good(integers: Any) -> None:
    paid = certified()
    receipt = Receipt(1, paid.digest)
    with pytest.raises(Refused, match="shape"):
        release(paid, receipt, integers, ScriptedEntropy())
    assert release(paid, receipt, INTEGERS, SeededEntropy("good"))


@pytest.mark.parametrize("value", [True, 1.0, np.int64(1), Fraction(1), None, "1", float("nan"), np.float64(2), 1j])
def test_only_whole_numbers_of_python_pass(value: Any) -> None:
    paid = certified()
    with pytest.raises(Refused, match="whole numbers"):
        release(paid, Receipt(1, paid.digest), [(1,), (value,)], ScriptedEntropy())


def test_huge_integers_pass_unharmed() -> None:
    paid, huge = certified(share=1000), 10**40
    done = release(paid, Receipt(1, paid.digest), [(huge,), (-huge,)], SeededEntropy("huge"))
    assert done.values == ((huge,), (-huge,))


def test_threads_race_for_one_receipt_and_one_wins() -> None:
    paid = certified()
    for _ in range(30):
        receipt, together = Receipt(1, paid.digest), Barrier(8)
        outcomes: list[str] = []

        def race(receipt: Receipt = receipt, together: Barrier = together, outcomes: list[str] = outcomes) -> None:
            together.wait()
            try:
                release(paid, receipt, INTEGERS, SeededEntropy("race"))
                outcomes.append("won")
            except ReceiptUsed:
                outcomes.append("lost")

        threads = [Thread(target=race) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(outcomes) == ["lost"] * 7 + ["won"]


def test_a_twin_that_forgets_to_redeem_is_caught() -> None:
    twin, paid = mutant(gate, "    receipt.redeem(certified.digest)\n", ""), certified()
    receipt = Receipt(1, paid.digest)
    for _ in range(2):
        twin.release(paid, receipt, INTEGERS, SeededEntropy("twin"))
    assert release(paid, receipt, INTEGERS, SeededEntropy("twin")), "the receipt was never used"


# ---- the noise ---------------------------------------------------------------------------------------------

EVERY_GROUP = (RangeKey(Column("age"), 1, MOST_GROUPS),)


def noise_of(currency: Any, mechanism: Any, share: Any, twin: Any = None) -> list[np.ndarray[Any, Any]]:
    """What the gate added to two measures in a hundred thousand groups."""
    measures = [measure(None, share, mechanism), measure(Sum(Column("income"), AGE), share, mechanism)]
    paid = certify(plan(*measures, keys=EVERY_GROUP), schema(), currency)
    integers = [(group, -group) for group in range(MOST_GROUPS)]
    if twin is not None:
        made = [twin.Additive.for_share(share, currency, one.sensitivity.l1, 0) for one in paid.releases]
        paid = replace(paid, releases=tuple(map(CertifiedRelease, [Sensitivity(1, 1, "")] * 2, made)))
    done = release(paid, Receipt(1, paid.digest), integers, SeededEntropy(f"noise {mechanism}"))
    added = np.array(done.values) - np.array(integers)
    return [added[:, 0], added[:, 1]]


def test_every_group_of_every_measure_gets_laplace_noise_of_its_own() -> None:
    count, total = noise_of("epsilon", "laplace", Fraction(1, 2))
    assert chi_square(*laplace_cells(count, Fraction(2))) > 1e-6
    assert chi_square(*laplace_cells(total, Fraction(180))) > 1e-6
    assert chi_square(*laplace_cells(total, Fraction(180) * Fraction(11, 10))) < 1e-6
    assert abs(np.corrcoef(count, total)[0, 1]) < 6 / MOST_GROUPS**0.5
    assert abs(np.corrcoef(total[1:], total[:-1])[0, 1]) < 6 / MOST_GROUPS**0.5


def test_every_group_of_every_measure_gets_gaussian_noise_of_its_own() -> None:
    count, total = noise_of("rho", "gaussian", Fraction(1, 8))
    assert chi_square(*gaussian_cells(count, Fraction(4))) > 1e-6
    assert chi_square(*gaussian_cells(total, Fraction(4 * 90**2))) > 1e-6
    assert chi_square(*gaussian_cells(count, Fraction(4) * Fraction(121, 100))) < 1e-6
    assert abs(np.corrcoef(count, total)[0, 1]) < 6 / MOST_GROUPS**0.5


def test_a_twin_that_gives_all_groups_the_same_noise_is_caught() -> None:
    drawn = "self.law.draw({}, entropy).tolist(){}"
    twin = mutant(additive, drawn.format("len(entries)", ""), drawn.format("1", " * len(entries)"))
    count, _ = noise_of("epsilon", "laplace", Fraction(1, 2), twin)
    assert chi_square(*laplace_cells(count, Fraction(2))) < 1e-6


# ---- cells -------------------------------------------------------------------------------------------------

GRID = Grid(Column("income"), Fraction(0), Fraction(100), 40)
FULL = CellCounts(np.array([3, 7]), np.array([5, 2]))
NONE = CellCounts(np.array([], dtype=np.int64), np.array([], dtype=np.int64))
HUGE = 10**9  # so large a share that noise is all but nothing


def binned(aggregate: Any, mechanism: Any, currency: Any, entries: Any, share: Any = HUGE) -> Any:
    paid = certify(plan(measure(aggregate, share, mechanism), keys=(BY_SEX,)), schema(), currency)
    return release(paid, Receipt(1, paid.digest), entries, SeededEntropy("cells")).values


def test_cells_are_filled_up_and_each_gets_noise() -> None:
    values = binned(Histogram(GRID), "laplace", "epsilon", [(FULL,), (NONE,)])
    assert values[0][0] == tuple(FULL.dense(40).tolist())
    assert values[1][0] == (0,) * 40
    noisy = binned(Histogram(GRID), "gaussian", "rho", [(FULL,), (NONE,)], Fraction(1, 100))
    assert len(set(noisy[0][0])) > 10
    assert noisy[0][0][8:] != noisy[1][0][8:]


@pytest.mark.parametrize(
    ("mechanism", "currency", "kind"), [("laplace", "epsilon", "tree"), ("gaussian", "rho", "roots")]
)
def test_running_totals_are_measured_by_their_strategy(mechanism: Any, currency: Any, kind: Any) -> None:
    values = binned(Cumulative(GRID), mechanism, currency, [(FULL,), (NONE,)], 10**15)
    assert values[0][0] == tuple(Strategy(kind, 40).answers(FULL.dense(40)).tolist())
    assert not any(values[1][0])


def test_noise_of_running_totals_is_that_of_the_strategy() -> None:
    paid = certify(plan(measure(Cumulative(GRID), 1, "laplace"), keys=(BY_SEX,)), schema(), "epsilon")
    added: list[int] = []
    for turn in range(300):
        done = release(paid, Receipt(1, paid.digest), [(NONE,), (NONE,)], SeededEntropy(f"totals {turn}"))
        added += [value for row in done.values for value in row[0]]  # type: ignore[union-attr]
    assert chi_square(*laplace_cells(np.array(added), Fraction(2))) > 1e-6


@pytest.mark.parametrize(("mechanism", "currency"), [("permute_and_flip", "epsilon"), ("exponential", "rho")])
def test_the_most_frequent_cell_is_chosen(mechanism: Any, currency: Any) -> None:
    assert binned(MostFrequent(GRID), mechanism, currency, [(FULL,), (FULL,)]) == ((3,), (3,))


def test_quantiles_are_chosen_in_every_group() -> None:
    values = binned(Quantiles(GRID, (Fraction(0), Fraction(1, 2))), "exponential", "rho", [(FULL,), (NONE,)])
    assert all(len(row[0]) > 2 + 2 for row in values)  # a position for each level, and counts around them
    assert 3 <= values[0][0][1] / 512 <= 4


@pytest.mark.parametrize("entry", [5, (5,), None, np.zeros(40), CellCounts(np.array([40]), np.array([1]))])
def test_what_is_not_cells_is_refused_and_the_receipt_stays_good(entry: Any) -> None:
    paid = certify(plan(measure(Histogram(GRID)), keys=(BY_SEX,)), schema(), "epsilon")
    receipt = Receipt(1, paid.digest)
    with pytest.raises(Refused, match="cells"):
        release(paid, receipt, [(FULL,), (entry,)], ScriptedEntropy())
    assert release(paid, receipt, [(FULL,), (NONE,)], SeededEntropy("good"))


def test_cells_are_no_number() -> None:
    paid = certified()
    with pytest.raises(Refused, match="whole numbers"):
        release(paid, Receipt(1, paid.digest), [(FULL,), (1,)], ScriptedEntropy())


# ---- open keys ---------------------------------------------------------------------------------------------

UNITS = np.array([500, 1, 600], dtype=np.int64)
TOWNS: Any = [("rome", 1), ("a village", 0), ("oslo", 0)]


def discovering(*measures: Any) -> Certified:
    asked = plan(*(measures or (measure(None, HUGE, "gaussian"),)), keys=(OpenKey(Column("city")), BY_SEX), unit=PERSON)
    wanted = replace(asked, selection=Selection(Fraction(1, 8), Fraction(1, 10**6)))
    return certify(wanted, schema(PERSON), "rho")


def test_groups_of_many_units_are_shown_sorted_and_others_are_not() -> None:
    paid = discovering()
    done = release(paid, Receipt(1, paid.digest), Found([(7,), (8,), (9,)], TOWNS, UNITS), SeededEntropy("towns"))
    assert done == Release(1, ((9,), (7,)), (("oslo", 0), ("rome", 1)))


def weighing(*measures: Any) -> Certified:
    asked = plan(*measures, keys=(OpenKey(Column("city")), BY_SEX), unit=PERSON)
    wanted = Selection(Fraction(1, 8), Fraction(1, 10**6), weighted=True)
    return certify(replace(asked, selection=wanted), schema(PERSON), "rho")


def test_weights_select_and_are_not_released() -> None:
    paid = weighing(measure(None, HUGE, "gaussian"))
    found = Found([(7,), (8,), (9,)], TOWNS, UNITS * WHOLE_WEIGHT)
    done = release(paid, Receipt(1, paid.digest), found, SeededEntropy("towns"))
    assert done == Release(1, ((9,), (7,)), (("oslo", 0), ("rome", 1)))
    unweighed = Found([(7,), (8,), (9,)], TOWNS, UNITS)
    assert release(paid, Receipt(1, paid.digest), unweighed, SeededEntropy("towns")).groups == ()


def test_of_keys_alone_nothing_but_the_keys_is_released() -> None:
    paid = weighing()
    done = release(paid, Receipt(1, paid.digest), Found([()] * 3, TOWNS, UNITS * WHOLE_WEIGHT), SeededEntropy("towns"))
    assert done == Release(1, ((), ()), (("oslo", 0), ("rome", 1)))
    nobody = Found([], [], np.array([], dtype=np.int64))
    assert release(paid, Receipt(1, paid.digest), nobody, ScriptedEntropy()) == Release(1, (), ())
    with pytest.raises(Refused, match="shape"):
        release(paid, Receipt(1, paid.digest), Found([(1,)] * 3, TOWNS, UNITS), ScriptedEntropy())


@pytest.mark.parametrize("aggregate", [None, Histogram(GRID)])
def test_where_no_key_is_found_there_is_nothing_to_release(aggregate: Any) -> None:
    paid = discovering(measure(aggregate, 1, "gaussian"))
    nobody = np.array([], dtype=np.int64)
    done = release(paid, Receipt(1, paid.digest), Found([], [], nobody), ScriptedEntropy())
    assert done == Release(1, (), ())


@pytest.mark.parametrize(
    "found",
    [
        Found([(1,)] * 3),
        Found([(1,)] * 3, TOWNS),
        Found([(1,)] * 3, None, UNITS),
        Found([(1,)] * 2, TOWNS, UNITS),
        Found([(1,)] * 3, TOWNS[:2], UNITS),
        Found([(1,)] * 3, TOWNS, UNITS[:2]),
        Found([(1,)] * 3, TOWNS, UNITS.astype(np.float64)),  # type: ignore[arg-type]
        Found([(1,)] * 3, [*TOWNS[:2], ("rome", 1)], UNITS),
        Found([(1,)] * 3, [*TOWNS[:2], ("oslo",)], UNITS),
        Found([(1,)] * 3, [*TOWNS[:2], ("oslo", 2)], UNITS),
        Found([(1,)] * 3, [*TOWNS[:2], ("oslo", -1)], UNITS),
        Found([(1,)] * 3, [*TOWNS[:2], (None, 0)], UNITS),  # type: ignore[list-item]
        Found([(1,)] * 3, [*TOWNS[:2], ("oslo", "0")], UNITS),
    ],
)
def test_keys_of_another_kind_are_refused_and_the_receipt_stays_good(found: Found) -> None:
    paid = discovering()
    receipt = Receipt(1, paid.digest)
    with pytest.raises(Refused, match=r"shape|kind"):
        release(paid, receipt, found, ScriptedEntropy())
    assert release(paid, receipt, Found([(1,)] * 3, TOWNS, UNITS), SeededEntropy("good"))


@pytest.mark.parametrize("found", [Found(INTEGERS, [("a", 0), ("b", 1)]), Found(INTEGERS, None, UNITS[:2])])
def test_keys_that_nobody_asked_for_are_refused(found: Found) -> None:
    paid = certified()
    with pytest.raises(Refused, match="shape"):
        release(paid, Receipt(1, paid.digest), found, ScriptedEntropy())
