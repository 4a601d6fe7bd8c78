"""The Python that repeats an answer."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from fractions import Fraction

from sfumato.schema.budget import Budget
from sfumato.schema.others import Lookup, Table
from sfumato.schema.table import Schema

IMPORTS = {"Decimal(": "from decimal import Decimal", "Fraction(": "from fractions import Fraction"}
IN_MEMORY = "# `data` is the table in memory that was protected.\n"


@dataclass(frozen=True, slots=True)
class Repeat:
    """How a session was opened, what was paid, and which questions were asked together: all that asking again takes."""

    opening: str
    spend: Fraction
    delta: Fraction | None = None
    together: tuple[str, ...] = ()
    caps: Mapping[str, int] = field(default_factory=dict)

    def script(self, question: str) -> str:
        spend = literal(self.spend)
        if self.delta is not None:
            spend = f"sf.Spend({spend}, delta={literal(self.delta)})"
        call, asked, place = "ask", f"        {question!r},\n", ""
        if self.together:
            call, place = "ask_all", f"[{self.together.index(question)}]"
            asked = "        [\n" + "".join(f"            {one!r},\n" for one in self.together) + "        ],\n"
        body = (
            f"with {self.opening} as session:\n"
            f"    answer = session.{call}(\n{asked}        spend={spend},\n{self._caps()}    ){place}\n"
            "print(answer)\n"
        )
        needed = [line for used, line in IMPORTS.items() if used in body]
        needed += ["import datetime"] if "datetime." in body else []
        head = "".join(f"{line}\n" for line in needed) + ("\n" if needed else "")
        remark = IN_MEMORY if "sf.protect(\n    data," in body else ""
        return f"{head}import sfumato as sf\n\n{remark}{body}"

    def _caps(self) -> str:
        return "".join(f"        {name}={given},\n" for name, given in self.caps.items())


def opening_policy(policy: str | os.PathLike[str], analyst: str) -> str:
    return f"sf.open({os.fspath(policy)!r}, analyst={analyst!r})"


def opening_table(
    source: object,
    schema: Schema,
    budget: Budget,
    *,
    ledger: str | os.PathLike[str],
    anchor: str | os.PathLike[str] | None,
    analyst: str,
    **options: object,
) -> str:
    """`sf.protect(…)` with everything that was declared; a table in memory is called `data`; None is left out."""
    named = repr(os.fspath(source)) if isinstance(source, str | os.PathLike) else "data"
    columns = "".join(f"        {name!r}: {literal(column)},\n" for name, column in schema.columns.items())
    lines = [
        f"{named},",
        f"table={schema.table!r},",
        f"unit={constructed(schema.unit)},",
        f"columns={{\n{columns}    }},",
        f"budget={constructed(budget)},",
        f"ledger={os.fspath(ledger)!r},",
        *([f"anchor={os.fspath(anchor)!r},"] if anchor is not None else []),
        f"analyst={analyst!r},",
        *(f"{name}={literal(option)}," for name, option in options.items() if option is not None),
    ]
    return "sf.protect(\n" + "".join(f"    {line}\n" for line in lines) + ")"


class Variable(str):
    """A name that stands in the script as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def named_sources(tables: Mapping[str, Lookup] | Mapping[str, Table] | None) -> dict[str, Lookup | Table] | None:
    """The tables beside the first for a script. One in memory goes by its own name: nothing of it is written out."""
    if not tables:
        return None
    return {
        name: table
        if isinstance(table.source, str | os.PathLike)
        else replace(table, source=Variable(name if name.isidentifier() else "table_in_memory"))
        for name, table in tables.items()
    }


def constructed(value: object) -> str:
    """A declaration as one would type it: sf.Int(lower=17, upper=90)."""
    given = [(field.name, getattr(value, field.name), field.default) for field in fields(value)]  # type: ignore[arg-type]
    said = [(name, part) for name, part, default in given if part is not None and part != default]
    arguments = ", ".join(f"{name}={literal(part)}" for name, part in said)
    return f"sf.{type(value).__name__}({arguments})"


def literal(value: object) -> str:
    """Python that reads as exactly this value; a fraction as the decimal it was typed as, where it is one."""
    if isinstance(value, tuple):
        return f"[{', '.join(literal(part) for part in value)}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{literal(key)}: {literal(part)}' for key, part in value.items())}}}"
    if is_dataclass(value):
        return constructed(value)
    if not isinstance(value, Fraction):
        return repr(os.fspath(value)) if isinstance(value, os.PathLike) else repr(value)
    if value.denominator == 1:
        return str(value.numerator)
    as_float = repr(float(value))
    if Fraction(as_float) == value:
        return as_float
    return _decimal(value) or f"Fraction({value.numerator}, {value.denominator})"


def _decimal(value: Fraction) -> str:
    """Decimal("…") if the denominator has no factor but 2 and 5."""
    rest, digits = value.denominator, 0
    for factor in (2, 5):
        power = 0
        while rest % factor == 0:
            rest, power = rest // factor, power + 1
        digits = max(digits, power)
    if rest > 1:
        return ""
    return f'Decimal("{value.numerator * 10**digits // value.denominator}e-{digits}")'
