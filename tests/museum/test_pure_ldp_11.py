"""pure-LDP #11: unary encoding drew the own bit twice, so that it was 1 more often than p, and ε was exceeded.

Rule: audit local mechanisms too. Here every report of every client is enumerated, and the old mistake replayed beside.
"""

from decimal import Decimal
from fractions import Fraction

import pytest

from sfumato.local import unary
from tests.kernel.laws import mutant
from tests.local.ideal import loss, use_ideal_callees
from tests.local.test_laws import laws

# The own bit keeps the 1 that chance had put there, and may become 1 once more.
OLD = "packed.put(rows, codes, coins(self._own(), len(codes), entropy))"
TWICE = "packed.put(rows, codes, coins(self._own(), len(codes), entropy) | (rows[:, 0] >> codes & 1 == 1))"


@pytest.mark.parametrize("optimised", [True, False])
@pytest.mark.parametrize("epsilon", [Fraction(1, 4), Fraction(1)])
def test_the_own_bit_is_drawn_once(epsilon: Fraction, optimised: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    twin = mutant(unary, OLD, TWICE)
    use_ideal_callees(monkeypatch, twin)
    limit = Decimal(epsilon.numerator) / epsilon.denominator
    assert loss(laws(unary.Unary(3, epsilon, optimised), range(3), bits=3)) < limit * Decimal("1.000001")
    assert loss(laws(twin.Unary(3, epsilon, optimised), range(3), bits=3)) > limit * Decimal("1.2")
