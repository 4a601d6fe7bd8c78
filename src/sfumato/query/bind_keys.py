"""What rows are grouped by: the list of its values is public, finite, and comes from declarations, never from data."""

from collections.abc import Callable
from datetime import timedelta
from fractions import Fraction
from math import ceil, floor

from sfumato.errors import Refused
from sfumato.kernel.certify import MOST_GROUPS
from sfumato.plan.expressions import Call, Case, Column, Expression, Number, String, fits_double
from sfumato.plan.kinds import kind_of
from sfumato.plan.nodes import Key, ListedKey, OpenKey, RangeKey
from sfumato.plan.walk import columns_in
from sfumato.query.bind_dates import LONGEST, date_range, starts
from sfumato.query.bind_expressions import value_range
from sfumato.query.wordings import keys_endless, keys_undeclared, too_many_keys
from sfumato.schema.columns import Category, CategoryValue, Date, Int, Text, plain_text
from sfumato.schema.table import Schema

# What a function makes of a declared ASCII text. A slip here would leave rows out, and reveal nothing.
CHANGES: dict[str, Callable[..., str]] = {
    "UPPER": str.upper,
    "LOWER": str.lower,
    "TRIM": lambda text: text.strip(" "),
    "LEFT": lambda text, length: text[:length],
    "RIGHT": lambda text, length: text[max(0, len(text) - length) :],
    "SUBSTRING": lambda text, start, length: text[start - 1 : start - 1 + length],
    "REPLACE": lambda text, old, new: text.replace(old, new),
}
MOST_EXACT = 1 << 53  # doubles hold whole numbers exactly up to here


def bind_key(key: Expression, schema: Schema) -> Key | OpenKey:
    """A key with all its values, or one whose values are to be discovered, or Refused with what to do."""
    match key:
        case Column(name=name):
            match schema.columns[name]:
                case Category(values=values):
                    return ListedKey(key, values)
                case Int(lower=Fraction() as lower, upper=Fraction() as upper):
                    return RangeKey(key, int(lower), int(upper))
                case Text() | Int() | Date(lower=None):
                    return OpenKey(key)
        case Number() | String():
            raise keys_endless("a constant")
    match kind_of(key, schema):
        case "date":
            return _days(key, schema)
        case "text":
            return _texts(key, schema)
        case _:
            return _numbers(key, schema)


def is_made_text(key: Expression, schema: Schema) -> bool:
    """Whether its values follow from no declaration, and are texts made of texts."""
    if not isinstance(key, Call | Case) or kind_of(key, schema) != "text" or _listed(key, schema):
        return False
    return any(isinstance(schema.columns[name], Text) for name in columns_in(key))


def _texts(key: Expression, schema: Schema) -> Key:
    found = _listed(key, schema)
    if not found:
        raise _endless(key)
    return ListedKey(key, tuple(dict.fromkeys(plain_text(value) for value in found)))


def _numbers(key: Expression, schema: Schema) -> Key:
    found = _listed(key, schema)
    if found:
        return ListedKey(key, tuple(dict.fromkeys(found)))
    known = value_range(key, f"GROUP BY {_shown(key)}", schema)
    if known.bounds is None or known.grid is None or known.grid.step == 0:
        raise _endless(key)
    low, high = known.bounds
    unit, offset = known.grid.step, known.grid.offset % known.grid.step
    lower, upper = ceil((low - offset) / unit), floor((high - offset) / unit)
    if max(abs(lower), abs(upper)) >= MOST_EXACT or not (fits_double(unit) and fits_double(offset)):
        raise _endless(key)
    return RangeKey(key, lower, upper, unit, offset)


def _days(key: Expression, schema: Schema) -> Key:
    found = date_range(key, schema)
    if found is None:
        raise _endless(key)
    unit = "day"
    if isinstance(key, Call) and key.name == "DATE_TRUNC" and isinstance(key.arguments[0], String):
        unit = key.arguments[0].value
    most = (found[1] - found[0]) // timedelta(days=LONGEST[unit]) + 1
    if most > MOST_GROUPS:
        raise too_many_keys(most, MOST_GROUPS)
    return ListedKey(key, tuple(day.isoformat() for day in starts(found, unit)))


def _listed(value: Expression, schema: Schema) -> list[CategoryValue] | None:
    """The values of an expression that picks constants and categories and changes none; None where there are others."""
    match value:
        case String(value=text):
            return [text]
        case Number(value=number) if number.denominator == 1 and abs(number) < MOST_EXACT:
            return [int(number)]
        case Column(name=name):
            declared = schema.columns[name]
            return list(declared.values) if isinstance(declared, Category) else None
        case Call(name="NULLIF", arguments=(first, _)):
            return _listed(first, schema)
        case Call(name=function, arguments=(first, *constants)) if function in CHANGES:
            found = _listed(first, schema)
            # Capitals and lengths of other signs are an engine's own business.
            if found is None or not all(isinstance(value, str) and value.isascii() for value in found):
                return None
            given = [each.value if isinstance(each, String) else int(each.value) for each in constants
                     if isinstance(each, String | Number)]  # fmt: skip
            return [CHANGES[function](value, *given) for value in found]
        case Call(name="COALESCE", arguments=arguments):
            return _joined([_listed(argument, schema) for argument in arguments])
        case Case(branches=branches, otherwise=otherwise):
            last = [] if otherwise is None else [otherwise]
            return _joined([_listed(then, schema) for then in [*(then for _, then in branches), *last]])
        case _:
            return None


def _joined(found: list[list[CategoryValue] | None]) -> list[CategoryValue] | None:
    known = [values for values in found if values is not None]
    return [value for values in known for value in values] if len(known) == len(found) else None


def _endless(key: Expression) -> Refused:
    return keys_undeclared(key.name) if isinstance(key, Column) else keys_endless(_shown(key))


def _shown(key: Expression) -> str:
    match key:
        case Call(name=name):
            return f"{name}(…)"
        case Case():
            return "CASE …"
        case _:
            return "this expression"
