"""What an expression is on every row, or why it is refused: its kind, and how long a text it can make.

Claim: an expression or condition that is not refused here has a value or NULL on every row of every table of its
schema, never an error, and no text in it is longer than LONGEST_MADE characters.
Needs: columns hold what `duckdb.canonical` makes of them: numbers that fit their type, days of the years 1 to 9999,
texts no longer than declared. Nodes are made by their constructors, which check constants, operators and arity.
Proof (kinds): by induction over the closed `match`. The SQL of a node fails on a row only if it is given another type
than it is written for (then the engine casts, and a cast fails on the rows that do not fit), or a value outside of its
function's domain. The first is excluded because every part has the kind that the node takes, and within a kind
`sql.expressions` casts by TRY_CAST to DOUBLE alone; the second because domains are kept by constants (checked when
a node is made) or by the CASE, NULLIF and IEEE arithmetic of `sql.phrases`.
Proof (length), in characters: a column is as long as declared, or as what it was made of. A constant is as long as it
is. UPPER and LOWER map character by character, to one (tests/plan/test_totality.py goes through all of Unicode); TRIM,
SUBSTRING, LEFT and RIGHT give a part; CASE, COALESCE and NULLIF give one of their parts; CONCAT adds. REPLACE puts new
in the place of k pieces of old that do not overlap: n + k(new - old) with k · old <= n, so at most n · max(1, new/old).
Numbers and days never become texts. How often a row pays for a text of such a length is `plan.work`'s.
"""

from dataclasses import dataclass
from typing import Literal

from sfumato.errors import Refused, identifier_used, plan_refused, unknown_column
from sfumato.plan.expressions import (
    AllOf,
    AnyOf,
    Arithmetic,
    Call,
    Case,
    Cells,
    Column,
    Comparison,
    Condition,
    Day,
    Expression,
    Grid,
    IsNull,
    ListedKey,
    Matches,
    Negative,
    Not,
    Number,
    OneOf,
    Pick,
    RangeKey,
    String,
    UnitPart,
    lines_of,
)
from sfumato.plan.functions import FUNCTIONS, Kind
from sfumato.plan.kinds import declared_kind
from sfumato.schema.columns import MOST_LONGEST, Category, Date, Declared, Float, Identifier, Int, Text, plain_text
from sfumato.schema.table import Schema

LONGEST_MADE = MOST_LONGEST  # a text that is made is no longer than one that may be declared


@dataclass(frozen=True, slots=True)
class Derived:
    """Of every value an expression can have: its kind, and the most characters of it if it is a text."""

    kind: Kind
    longest: int = 0


def known(value: Expression, schema: Schema, seen: "Seen | None" = None) -> Derived:
    """What is known of a value, or Refused: see the claim above. `seen` is of the same schema, and is added to."""
    return _value(value, schema, {} if seen is None else seen, LONGEST_MADE)


def check(condition: Condition, schema: Schema) -> None:
    """Refuse a condition that some row could make fail: see the claim above."""
    _condition(condition, schema, {}, LONGEST_MADE)


def check_cells(cells: Cells, schema: Schema) -> None:
    """Refuse cells that some row could make fail, or whose numbers would not be theirs alone: see the claim above."""
    _cells(cells, schema, {}, LONGEST_MADE)


def longest(value: Expression, schema: Schema) -> int:
    """The most characters a value may have, also where that is too many."""
    return _value(value, schema, {}, None).longest


def agrees(value: Expression, declared: Declared, schema: Schema, seen: "Seen | None" = None) -> bool:
    """Whether a computed column holds what it is declared as: a column of the same type, or a value of the same kind.

    Nothing else of a declaration is believed: bounds and lists of values only propose clamps and keys.
    `seen` is as in `known`.
    """
    if isinstance(value, Column):
        return _stored(declared) == _stored(schema.columns[value.name]) != "id"
    match known(value, schema, seen).kind:
        case "number":  # written with a cast to one of these
            return isinstance(declared, Int | Float)
        case kind:
            return not isinstance(declared, Identifier) and declared_kind(declared) == kind


def _stored(declared: Declared) -> Literal["whole", "real", "text", "date", "id"]:
    match declared:
        case Int():
            return "whole"
        case Float():
            return "real"
        case Date():
            return "date"
        case Category():
            return "whole" if declared_kind(declared) == "number" else "text"
        case Text():
            return "text"
        case _:
            return "id"


Seen = dict[int, Derived]  # nodes are shared in a plan: each is looked at once


def _value(value: Expression, schema: Schema, seen: Seen, most: int | None) -> Derived:
    if id(value) not in seen:
        found = _found(value, schema, seen, most)
        if most is not None and found.longest > most:
            raise plan_refused(f"a text in it may have more than {most} characters on one row")
        seen[id(value)] = found
    return seen[id(value)]


def _found(value: Expression, schema: Schema, seen: Seen, most: int | None) -> Derived:
    match value:
        case Column(name=name):
            return _column(name, schema)
        case String(value=text):
            return Derived("text", len(text))
        case Day():
            return Derived("date")
        case Number():
            return Derived("number")
        case Negative(operand=operand):
            return _all_numbers((operand,), schema, seen, most)
        case Arithmetic(left=left, right=right):
            return _all_numbers((left, right), schema, seen, most)
        case Call():
            return _call(value, [_value(each, schema, seen, most) for each in value.arguments])
        case Case(branches=branches, otherwise=otherwise):
            for when, _ in branches:
                _condition(when, schema, seen, most)
            thens = [then for _, then in branches] + ([] if otherwise is None else [otherwise])
            return _one_of([_value(then, schema, seen, most) for then in thens])
        case Pick(cells=cells):
            _cells(cells, schema, seen, most)
            return Derived("number")
        case UnitPart():  # of the id, which every source carries, or of columns that are there
            return Derived("number")
        case _:
            raise plan_refused(f"it holds an unknown {type(value).__name__}")


def _cells(cells: Cells, schema: Schema, seen: Seen, most: int | None) -> None:
    for line in lines_of(cells):
        match line:
            case Grid(value=value) | RangeKey(expression=value):
                if _value(value, schema, seen, most).kind != "number":
                    raise plan_refused("it adds up, or puts into cells, what is no number")
            case ListedKey(expression=value, values=values):
                types = {type(listed) for listed in values}
                if len({plain_text(listed) for listed in values}) < line.size:
                    # It would get two groups of which an engine fills one, or be no list to an engine.
                    raise plan_refused("a key lists a value twice")
                if len(types) > 1 or (_value(value, schema, seen, most).kind == "number") != (types == {int}):
                    raise plan_refused("a key lists values of another kind than its own")
            case _:
                raise plan_refused(f"it holds an unknown {type(line).__name__}")


def _column(name: str, schema: Schema) -> Derived:
    if name not in schema.columns:
        raise unknown_column(name, schema.visible)
    declared = schema.columns[name]
    if isinstance(declared, Identifier):
        raise identifier_used(name)
    return Derived(declared_kind(declared), schema.lengths.get(name, longest_declared(declared)))


def longest_declared(declared: Declared) -> int:
    """The most characters of a column of a table; a category's values are counted by their bytes, which are more."""
    match declared:
        case Text(longest=characters):
            return characters
        case Category(values=values):
            return max(len(plain_text(value).encode()) for value in values)
        case _:
            return 0


def _all_numbers(parts: tuple[Expression, ...], schema: Schema, seen: Seen, most: int | None) -> Derived:
    if any(_value(part, schema, seen, most).kind != "number" for part in parts):
        raise _other_kind()
    return Derived("number")


def _one_of(parts: list[Derived]) -> Derived:
    if any(part.kind != parts[0].kind for part in parts):
        raise plan_refused("a value in it is of one kind or of another")
    return Derived(parts[0].kind, max(part.longest for part in parts))


def _call(call: Call, given: list[Derived]) -> Derived:
    function = FUNCTIONS.get(call.name)
    takes = None if function is None else function.taken(len(given))
    if function is None or takes is None:
        raise plan_refused("it calls an unknown function")
    for part, kind in zip(given, takes, strict=True):
        if kind in ("number", "text", "date") and part.kind != kind:
            raise _other_kind()
    if function.gives == "same":
        return _one_of(given)
    return Derived(function.gives, _longest_of(call, given) if function.gives == "text" else 0)


def _longest_of(call: Call, given: list[Derived]) -> int:
    match call:
        case Call(name="UPPER" | "LOWER" | "TRIM" | "SUBSTRING" | "LEFT" | "RIGHT"):
            return given[0].longest
        case Call(name="CONCAT"):
            return sum(part.longest for part in given)
        case Call(name="REPLACE", arguments=(_, String(value=old), String(value=new))):
            return given[0].longest * max(len(old), len(new)) // len(old)
        case _:
            raise plan_refused("it makes a text of a length that nobody knows")


def _condition(node: Condition, schema: Schema, seen: Seen, most: int | None) -> None:
    match node:
        case Comparison(operator=operator, left=left, right=right):
            kinds = [_value(side, schema, seen, most).kind for side in (left, right)]
            if kinds[0] != kinds[1]:
                raise _compared()
            if kinds[0] == "text" and operator not in ("=", "<>"):
                raise plan_refused("it puts texts in an order, in which engines differ")
        case OneOf(operand=operand, choices=choices):
            kind = _value(operand, schema, seen, most).kind
            if any(_value(choice, schema, seen, most).kind != kind for choice in choices):
                raise _compared()
        case Matches(operand=operand):
            if _value(operand, schema, seen, most).kind != "text":
                raise _other_kind()
        case IsNull(operand=operand):
            _value(operand, schema, seen, most)
        case Not(operand=inner):
            _condition(inner, schema, seen, most)
        case AllOf(operands=operands) | AnyOf(operands=operands):
            for inner in operands:
                _condition(inner, schema, seen, most)
        case _:
            raise plan_refused(f"it holds an unknown {type(node).__name__}")


def _other_kind() -> Refused:
    return plan_refused("a part of it is of another kind than it takes")


def _compared() -> Refused:
    return plan_refused("it compares values of two kinds")
