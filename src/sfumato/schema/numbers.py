"""Numbers from people, read as the decimal they typed."""

from decimal import Decimal
from fractions import Fraction
from numbers import Integral

from sfumato.errors import not_a_number, not_finite, not_positive, not_whole, out_of_range, too_small

GivenNumber = int | float | Decimal | Fraction

# Larger or smaller magnitudes have no use here and would only make the exact arithmetic slow.
LARGEST_EXPONENT = 100


def exact(value: object, what: str) -> Fraction:
    """The rational a person meant: 0.1 is one tenth, not the nearest double.

    Needs: a finite number of ordinary size; booleans and texts are refused.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | Fraction | Integral):
        raise not_a_number(what, repr(value) if isinstance(value, bool | str) else type(value).__name__)
    if isinstance(value, float):
        value = Decimal(repr(float(value)))
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise not_finite(what)
        if value and abs(value.adjusted()) > LARGEST_EXPONENT:
            raise out_of_range(f"the size of {what}", f"1e-{LARGEST_EXPONENT}", f"1e{LARGEST_EXPONENT}", str(value))
    result = Fraction(value) if isinstance(value, Decimal | Fraction) else Fraction(int(value))
    if result and not Fraction(1, 10**LARGEST_EXPONENT) <= abs(result) <= 10**LARGEST_EXPONENT:
        raise out_of_range(f"the size of {what}", f"1e-{LARGEST_EXPONENT}", f"1e{LARGEST_EXPONENT}", "that")
    return result


def exact_positive(value: object, what: str) -> Fraction:
    result = exact(value, what)
    if result <= 0:
        raise not_positive(what, shown(result))
    return result


def whole(value: object, what: str, *, least: int, most: int | None = None) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise not_whole(what, repr(value) if isinstance(value, bool | str | float) else type(value).__name__)
    number = int(value)
    if number < least or (most is not None and number > most):
        shown_number = str(number) if abs(number) <= 10**LARGEST_EXPONENT else "that"
        if most is None:
            raise too_small(what, str(least), shown_number)
        raise out_of_range(what, str(least), str(most), shown_number)
    return number


def shown(value: Fraction) -> str:
    """A short decimal for people: 0.5, 1e-06, 0.333333."""
    return f"{float(value):.6g}"
