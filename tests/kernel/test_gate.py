"""The gate: one receipt, one opening; whole numbers in, noise added."""

from fractions import Fraction
from threading import Barrier, Thread
from typing import Any

import numpy as np
import pytest

from sfumato.errors import ReceiptUsed, Refused
from sfumato.kernel import gate
from sfumato.kernel.certify import MOST_GROUPS, Certified, certify
from sfumato.kernel.gate import Receipt, Release, release
from sfumato.plan.expressions import Column
from sfumato.plan.nodes import RangeKey, Sum
from tests.entropy import ScriptedEntropy, SeededEntropy
from tests.kernel.laws import chi_square, gaussian_cells, laplace_cells, mutant
from tests.kernel.plans import AGE, BY_SEX, measure, plan, schema


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


def noise_of(currency: Any, mechanism: Any, share: Any, module: Any = gate) -> list[np.ndarray[Any, Any]]:
    """What the gate added to two measures in a hundred thousand groups."""
    measures = [measure(None, share, mechanism), measure(Sum(Column("income"), AGE), share, mechanism)]
    paid = certify(plan(*measures, keys=EVERY_GROUP), schema(), currency)
    integers = [(group, -group) for group in range(MOST_GROUPS)]
    done = module.release(paid, Receipt(1, paid.digest), integers, SeededEntropy(f"noise {mechanism}"))
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
    twin = mutant(
        gate, "mechanism.draw(len(entries), entropy).tolist()", "mechanism.draw(1, entropy).tolist() * len(entries)"
    )
    count, _ = noise_of("epsilon", "laplace", Fraction(1, 2), twin)
    assert chi_square(*laplace_cells(count, Fraction(2))) < 1e-6
