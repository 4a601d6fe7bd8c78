import dataclasses
import math

import pytest

from sfumato.attacks import AttackResult
from sfumato.errors import UsageError


def result(**changes: object) -> AttackResult[float]:
    usual = {"name": "differencing", "recovered": [1.0], "success": 0.25, "chance": 0.1, "bound": 0.27, "attempts": 4}
    return AttackResult(**(usual | changes))  # type: ignore[arg-type]


def test_summary_is_one_line_with_every_share() -> None:
    assert result().summary() == "differencing: success 25.0% in 4 attempts; chance 10.0%; the promise allows 27.0%"


def test_summary_says_when_nothing_was_promised_or_the_truth_is_unknown() -> None:
    line = result(success=math.nan, bound=None, attempts=1, chance=0.00006).summary()
    assert line == "differencing: success unknown in 1 attempt; chance 6e-05; nothing was promised"


def test_summary_shows_no_recovered_value() -> None:
    assert "31415" not in result(recovered=[31415.9]).summary()


@pytest.mark.parametrize("field", ["success", "chance", "bound"])
@pytest.mark.parametrize("share", [-0.01, 1.01])
def test_shares_lie_between_zero_and_one(field: str, share: float) -> None:
    with pytest.raises(UsageError, match=field):
        result(**{field: share})


def test_attempts_are_counted_from_zero() -> None:
    with pytest.raises(UsageError, match="attempts"):
        result(attempts=-1)


def test_a_result_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        result().success = 0.0  # type: ignore[misc]
