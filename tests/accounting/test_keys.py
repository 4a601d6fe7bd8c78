"""The δ of selected keys is counted wherever what was spent is added up."""

from fractions import Fraction

import pytest

from sfumato import accounting
from sfumato.accounting.events import Event
from sfumato.accounting.people import group, parallel
from sfumato.errors import UsageError
from sfumato.kernel.mechanisms.keys import KeySelection

RECORD = KeySelection(Fraction(1, 100), Fraction(1, 10**5)).event()


def test_what_is_left_of_delta_is_at_least_the_chance_to_show_one_person() -> None:
    assert float(accounting.delta([RECORD], epsilon=1)) >= 1e-5
    assert float(accounting.epsilon([RECORD], delta=1.1e-5)) > float(accounting.epsilon([("zcdp", 0.01)], delta=1.1e-5))


def test_parts_keep_their_delta_and_groups_are_refused() -> None:
    found = parallel([RECORD, RECORD], neighbours="add or remove", fixed_in_advance=True)
    assert 0 <= found.rho - Fraction(1, 100) < Fraction(1, 10**30)
    assert found.delta == Fraction(1, 10**5)
    assert group(RECORD, 1).delta == Fraction(1, 10**5)
    with pytest.raises(UsageError):
        group(RECORD, 2)
    assert "1e-05" in str(Event("zcdp", Fraction(1, 100), Fraction(1, 10**5)))
