"""Before spending: the smallest spend for an error one can live with."""

from collections.abc import Callable
from fractions import Fraction

from sfumato.answers.clipped import Clipped
from sfumato.answers.formulas import expected_errors
from sfumato.answers.supposed import supposed_error
from sfumato.answers.wordings import (
    error_depends,
    error_out_of_reach,
    keys_without_error,
    no_error_bar,
    not_measured,
    which_column,
)
from sfumato.errors import UsageError
from sfumato.kernel.certify import Certified
from sfumato.query.ordering import After
from sfumato.query.rewrite import ModeColumn, OutputColumn
from sfumato.schema.numbers import GivenNumber, exact_positive, shown

# Spends of three digits, from 0.001 (the least there is) to 9.99e5.
DIGITS, LEAST_EXPONENT, DECADES = 3, -3, 9
IN_A_DECADE = 9 * 10 ** (DIGITS - 1)


def error_of(
    columns: tuple[OutputColumn, ...],
    after: After,
    certified: Certified,
    column: str | None,
    confidence: float,
    clipped: Clipped | None = None,
    rows: int | None = None,
) -> float:
    """Half the width of a column's error bar, or Refused where it depends on the data.

    rows: about how many a group has; of that the error bars follow that depend on it.
    """
    mechanisms = tuple(release.mechanism for release in certified.releases)
    measured = expected_errors(columns, after, mechanisms, confidence, clipped)
    if not measured:
        raise keys_without_error()
    if column is None and len(measured) > 1:
        raise which_column(list(measured))
    name = next(iter(measured)) if column is None else column
    if name not in measured:
        raise not_measured(name, measured)
    if any(isinstance(found, ModeColumn) and found.name == name for found in columns):
        raise no_error_bar(name)
    error, all_columns = measured[name], (*columns, *after.computed)
    if error is None and rows is not None:
        made = next(found for found in all_columns if found.name == name)
        error = supposed_error(made, all_columns, certified, rows, confidence, clipped)
    if error is None:
        raise error_depends(name)
    return error


def spend_for(error_at: Callable[[Fraction], float], error: GivenNumber) -> float:
    """The smallest spend of three digits at which `error_at(spend)` is at most `error`.

    Needs: an error that never grows with the spend.
    """
    most = exact_positive(error, "error")
    error_at(Fraction(1))  # whatever is wrong with the question is said here
    low, high = 0, DECADES * IN_A_DECADE - 1
    if not _reaches(error_at, _spend(high), most):
        raise error_out_of_reach(shown(most), shown(_spend(high)))
    while low < high:
        middle = (low + high) // 2
        if _reaches(error_at, _spend(middle), most):
            high = middle
        else:
            low = middle + 1
    return float(_spend(high))


def _spend(place: int) -> Fraction:
    decade, digits = divmod(place, IN_A_DECADE)
    exponent = LEAST_EXPONENT + decade - DIGITS + 1
    return Fraction(f"{10 ** (DIGITS - 1) + digits}e{exponent}")


def _reaches(error_at: Callable[[Fraction], float], spend: Fraction, most: Fraction) -> bool:
    try:
        return Fraction(error_at(spend)) <= most
    except UsageError:  # too small to buy any answer
        return False
