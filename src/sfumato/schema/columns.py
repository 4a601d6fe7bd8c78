"""What an owner declares about a column. A column that is not declared does not exist for analysts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from sfumato.errors import UsageError, out_of_range
from sfumato.schema.given import check_mapping
from sfumato.schema.numbers import GivenNumber, exact, shown, whole
from sfumato.schema.wordings import (
    bounds_reversed,
    category_not_list,
    mixed_categories,
    no_categories,
    not_a_date,
    repeated_category,
)

CategoryValue = str | int | bool

LARGEST_INT = 1 << 62
LONGEST_TEXT = 1000
MOST_LONGEST = 100_000


@dataclass(frozen=True, slots=True, init=False)
class Int:
    """Whole numbers. With bounds they can be summed and grouped by.

    With `private_bounds` in place of bounds, a sum finds them, with that part of its spend; a median does without.
    """

    lower: Fraction | None
    upper: Fraction | None
    private_bounds: Fraction | None

    def __init__(
        self, lower: int | None = None, upper: int | None = None, *, private_bounds: GivenNumber | None = None
    ) -> None:
        low, high = _bounds(
            None if lower is None else whole(lower, "lower", least=-LARGEST_INT, most=LARGEST_INT),
            None if upper is None else whole(upper, "upper", least=-LARGEST_INT, most=LARGEST_INT),
        )
        object.__setattr__(self, "lower", low)
        object.__setattr__(self, "upper", high)
        object.__setattr__(self, "private_bounds", _part(private_bounds, low))


@dataclass(frozen=True, slots=True, init=False)
class Float:
    """Real numbers. With bounds they are summed; with `private_bounds` a sum finds them, a median does without."""

    lower: Fraction | None
    upper: Fraction | None
    private_bounds: Fraction | None

    def __init__(
        self,
        lower: GivenNumber | None = None,
        upper: GivenNumber | None = None,
        *,
        private_bounds: GivenNumber | None = None,
    ) -> None:
        low, high = _bounds(lower, upper)
        object.__setattr__(self, "lower", low)
        object.__setattr__(self, "upper", high)
        object.__setattr__(self, "private_bounds", _part(private_bounds, low))


@dataclass(frozen=True, slots=True, init=False)
class Date:
    """Days, of the years 1 to 9999. With bounds they can be grouped by, and distances between them summed."""

    lower: date | None
    upper: date | None

    def __init__(self, lower: str | date | None = None, upper: str | date | None = None) -> None:
        if (lower is None) != (upper is None):
            raise bounds_reversed(*("(missing)" if end is None else str(as_date(end)) for end in (lower, upper)))
        low, high = (None if end is None else as_date(end) for end in (lower, upper))
        if low is not None and high is not None and low >= high:
            raise bounds_reversed(low.isoformat(), high.isoformat())
        object.__setattr__(self, "lower", low)
        object.__setattr__(self, "upper", high)


@dataclass(frozen=True, slots=True, init=False)
class Category:
    """One of a public list of values: every listed value gets a group, anything else is dropped."""

    values: tuple[CategoryValue, ...]

    def __init__(self, values: Sequence[CategoryValue]) -> None:
        if isinstance(values, str):
            raise category_not_list(values)
        listed = tuple(values) if isinstance(values, Iterable) else ()
        if not listed:
            raise no_categories()
        if len({type(value) for value in listed}) > 1 or not isinstance(listed[0], str | int):
            raise mixed_categories()
        if any(isinstance(value, int) and abs(value) >= 1 << 64 for value in listed):
            raise out_of_range("a whole number of a category", "-2^64", "2^64", "that")
        if any("\0" in str(value) or str(value).encode(errors="ignore").decode() != str(value) for value in listed):
            raise mixed_categories()
        if len(set(listed)) < len(listed):
            raise repeated_category(next(str(value) for value in listed if listed.count(value) > 1))
        object.__setattr__(self, "values", listed)


@dataclass(frozen=True, slots=True)
class Text:
    """Free text: may be compared and counted; as a key, its values are discovered, which needs a budget with delta.

    Longer texts than `longest` characters are NULL: one that takes long to work on would tell whether it is there.
    """

    longest: int = LONGEST_TEXT

    def __post_init__(self) -> None:
        object.__setattr__(self, "longest", whole(self.longest, "longest", least=1, most=MOST_LONGEST))


@dataclass(frozen=True, slots=True)
class Identifier:
    """Names a person: never leaves, never groups, never compares."""


Declared = Int | Float | Date | Category | Text | Identifier


def check_columns(columns: Mapping[str, Any]) -> None:
    """Refuse what is not a mapping from names to declared columns."""
    check_mapping(columns, "columns", 'columns={"age": sf.Int(0, 120), "city": sf.Text()}')
    for name, column in columns.items():
        if not isinstance(column, Declared):
            kind = column if isinstance(column, type) else type(column)
            raise UsageError(
                f'the column "{name}" is declared as {kind.__name__}.',
                "Declare it as sf.Int(…), sf.Float(…), sf.Date(…), sf.Category([…]), sf.Text() or sf.Identifier().",
            )


def as_date(value: object) -> date:
    """A date as people write it: 2024-01-31 and nothing else."""
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    try:
        day = date.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        day = None
    if day is None or day.isoformat() != value:
        raise not_a_date(repr(value) if isinstance(value, str) else type(value).__name__)
    return day


def plain_text(value: CategoryValue) -> str:
    """How a value of a category is written: true and false in small letters."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _bounds(lower: GivenNumber | None, upper: GivenNumber | None) -> tuple[Fraction | None, Fraction | None]:
    low, high = (None if end is None else exact(end, name) for end, name in ((lower, "lower"), (upper, "upper")))
    if low is None and high is None:
        return None, None
    if low is None or high is None:
        raise bounds_reversed(*("(missing)" if end is None else str(end) for end in (lower, upper)))
    if low >= high:
        raise bounds_reversed(shown(low), shown(high))
    return low, high


def _part(private_bounds: GivenNumber | None, declared: Fraction | None) -> Fraction | None:
    """The part of a spend that goes into finding bounds."""
    if private_bounds is None:
        return None
    if declared is not None:
        raise UsageError("a column has both bounds and private_bounds.", "Keep the bounds: they cost nothing.")
    part = exact(private_bounds, "private_bounds")
    if not 0 < part < 1:
        raise out_of_range("private_bounds", "0", "1", shown(part))
    return part
