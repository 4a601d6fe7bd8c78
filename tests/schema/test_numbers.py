"""Numbers from people: the decimal they typed, or a refusal that says why."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato.errors import UsageError
from sfumato.schema.numbers import exact, exact_positive, shown, whole


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.1, Fraction(1, 10)),
        (np.float64(0.1), Fraction(1, 10)),
        (1e-6, Fraction(1, 10**6)),
        (Decimal("0.1"), Fraction(1, 10)),
        (Decimal("1e-100"), Fraction(1, 10**100)),
        (Fraction(1, 3), Fraction(1, 3)),
        (7, Fraction(7)),
        (np.int64(7), Fraction(7)),
        (10**100, Fraction(10**100)),
        (-0.0, Fraction(0)),
        (0, Fraction(0)),
        (-2.5, Fraction(-5, 2)),
    ],
)
def test_exact(value: Any, expected: Fraction) -> None:
    result = exact(value, "epsilon")
    assert type(result) is Fraction
    assert result == expected


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (True, "must be a number, not True"),
        (np.bool_(True), "must be a number, not bool"),
        ("1", "must be a number, not '1'"),
        (None, "must be a number, not NoneType"),
        (1j, "must be a number, not complex"),
        ([1], "must be a number, not list"),
        (float("nan"), "finite"),
        (float("inf"), "finite"),
        (-float("inf"), "finite"),
        (Decimal("NaN"), "finite"),
        (Decimal("sNaN"), "finite"),
        (Decimal("Infinity"), "finite"),
        (1e300, "between 1e-100 and 1e100"),
        (1e-300, "between 1e-100 and 1e100"),
        (5e-324, "between 1e-100 and 1e100"),
        (Decimal("1e999999"), "between 1e-100 and 1e100"),
        (Decimal("-1e-999999"), "between 1e-100 and 1e100"),
        (Decimal("9.9e100"), "between 1e-100 and 1e100"),
        (10**101, "between 1e-100 and 1e100"),
        (10**4000, "between 1e-100 and 1e100"),
        (Fraction(1, 10**101), "between 1e-100 and 1e100"),
    ],
)
def test_exact_refuses(value: Any, message: str) -> None:
    with pytest.raises(UsageError, match="epsilon must") as refused:
        exact(value, "epsilon")
    assert message in refused.value.message


def test_exact_positive() -> None:
    assert exact_positive(0.5, "epsilon") == Fraction(1, 2)
    for value in (0, -1, -0.5):
        with pytest.raises(UsageError, match="greater than 0"):
            exact_positive(value, "epsilon")


def test_whole() -> None:
    assert whole(3, "max_rows", least=1) == 3
    assert type(whole(np.int64(3), "max_rows", least=1)) is int
    assert whole(10, "max_rows", least=1, most=10) == 10
    for value in (True, 1.0, "1", None, Fraction(1), Decimal(1), np.float64(1)):
        with pytest.raises(UsageError, match="whole number"):
            whole(value, "max_rows", least=1)
    with pytest.raises(UsageError, match="must be 1 or more, not 0"):
        whole(0, "max_rows", least=1)
    with pytest.raises(UsageError, match="between 1 and 10, not 11"):
        whole(11, "max_rows", least=1, most=10)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(1, 2), "0.5"),
        (Fraction(1, 10**6), "1e-06"),
        (Fraction(1, 3), "0.333333"),
        (Fraction(200000), "200000"),
    ],
)
def test_shown(value: Fraction, text: str) -> None:
    assert shown(value) == text
