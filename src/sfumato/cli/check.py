"""sfumato check"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import typer

from sfumato.cli.format import Format, Usual
from sfumato.cli.output import as_csv, as_json, as_table, working, write
from sfumato.cli.wordings import (
    NO_ROWS,
    OWNERS_EYES,
    many_beyond,
    no_people,
    none_fits,
    none_there,
    people_beyond,
    rows_of_nobody,
    some_do_not_fit,
)
from sfumato.cli.writable import ToFile, ready
from sfumato.engines.duckdb.fit import Beyond, Fit, TableFit, fits
from sfumato.errors import so_many
from sfumato.schema.columns import Category, Text
from sfumato.schema.policy import Policy, load_policy
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person

app = typer.Typer(add_completion=False)

WRONG, LOOK = "!!", "?"  # no cell counts; some do not
MANY = 0.1  # so large a part beyond bounds deserves a word
ALWAYS = ("mark", "table", "column", "declared", "fit", "do not fit", "missing")
BLANK: Mapping[str, Any] = MappingProxyType(
    dict.fromkeys((*ALWAYS, "below", "above", "people over default", "people over ceiling"), "")
)


@app.command()
def check(
    policy: Annotated[Path, typer.Argument(help="The policy file, e.g. people.toml.")],
    format: Annotated[Usual, typer.Option(help="How to print.")] = Format.table,
    output: ToFile = None,
) -> None:
    """For the owner's eyes: how many cells fit what is declared, and how many people exceed caps. Publish none of it.

    The counts are exact, without noise. Nothing is spent, and no ledger is opened.
    """
    ready(output)
    loaded = load_policy(policy)
    with working("Counting cells and people …"):
        found = fits(loaded)
    rows = [row for table in found for row in _rows(table, loaded.schema)]
    said = [about for table in found for about in _said(table, loaded.schema)]
    match format:
        case Format.json:
            write(as_json({"notice": OWNERS_EYES, "tables": [_content(table, loaded) for table in found]}), output)
        case Format.csv:
            print(OWNERS_EYES, file=sys.stderr)
            write(as_csv(list(BLANK), rows), output)
        case Format.table:
            shown = as_table(list(BLANK), rows, footer="\n".join([*map(_totals, found), *said]))
            write(f"{OWNERS_EYES}\n{shown}", output)


def _rows(table: TableFit, schema: Schema) -> Iterator[dict[str, Any]]:
    """A line of the id, if the table has one, and one of each column. What there is not of a column stays blank."""
    if table.too_many_rows is not None and isinstance(schema.unit, Person):
        mark = WRONG if table.rows and not table.people else LOOK if table.nobodys else ""
        row = {**BLANK, "mark": mark, "table": table.table, "column": schema.unit.id, "declared": "id of a person"}
        row |= {"fit": table.rows - table.nobodys, "missing": table.nobodys}
        yield row | _over(table.too_many_rows)
    for fit in table.columns:
        row = {**BLANK, "mark": _mark(table, fit), "table": table.table, "column": fit.column, "declared": _kind(fit)}
        row |= {"fit": fit.fit, "do not fit": fit.there - fit.fit, "missing": table.rows - fit.there}
        if fit.below is not None:
            row |= {"below": fit.below, "above": fit.above}
        yield row | _over(fit.groups)


def _over(beyond: Beyond | None) -> dict[str, Any]:
    if beyond is None:
        return {}
    return {"people over default": beyond.default, "people over ceiling": beyond.most}


def _mark(table: TableFit, fit: Fit) -> str:
    if table.rows and not fit.fit:
        return WRONG
    return LOOK if _notes(table, fit) else ""


def _kind(fit: Fit) -> str:
    return type(fit.declared).__name__.lower()


def _said(table: TableFit, schema: Schema) -> Iterator[str]:
    """What to look at, each with what to do."""
    for about in _of_table(table, schema):
        yield f"{table.table}: {about}"
    for fit in table.columns:
        for about in _notes(table, fit):
            yield f"{_mark(table, fit)} {table.table}.{fit.column}: {about}"


def _of_table(table: TableFit, schema: Schema) -> Iterator[str]:
    """Rows without people, and people with more than counts."""
    if not table.rows:
        yield NO_ROWS
    elif table.too_many_rows is not None and isinstance(schema.unit, Person):
        if not table.people:
            yield no_people(schema.unit.id)
        elif table.nobodys:
            yield rows_of_nobody(schema.unit.id, table.nobodys)
        yield from _caps(table, table.too_many_rows, schema)


def _notes(table: TableFit, fit: Fit) -> list[str]:
    kind, unfit = _kind(fit), fit.there - fit.fit
    if not table.rows:
        return []
    if not fit.there:
        return [none_there()]
    if not fit.fit:
        return [none_fits(fit.there, kind, fit.mendable)]
    notes = [some_do_not_fit(unfit, fit.there, kind, fit.mendable)] if unfit else []
    if fit.below is not None and fit.above is not None and fit.below + fit.above > MANY * fit.fit:
        notes.append(many_beyond(fit.below, fit.above, fit.fit))
    return notes


def _caps(table: TableFit, rows: Beyond, schema: Schema) -> Iterator[str]:
    caps, people = schema.caps_of(table.table), table.people or 0
    if rows.default:
        yield people_beyond("rows", rows.default, people, caps.default_max_rows, rows.most, caps.max_rows)
    for fit in table.columns:
        if fit.groups is not None and fit.groups.default:
            what, beyond = f"groups by {fit.column}", fit.groups
            yield people_beyond(what, beyond.default, people, caps.default_max_groups, beyond.most, caps.max_groups)


def _totals(table: TableFit) -> str:
    people = "" if table.people is None else f" of {table.people:,} {'person' if table.people == 1 else 'people'}"
    return f"{table.table}: {so_many(table.rows, 'row')}{people}."


def _content(table: TableFit, policy: Policy) -> dict[str, Any]:
    return {
        "table": table.table,
        "rows": table.rows,
        "rows_of_nobody": table.nobodys,
        "people": table.people,
        "people_beyond_max_rows": _beyond(table.too_many_rows),
        "notes": list(_of_table(table, policy.schema)),
        "columns": [_column(table, fit) for fit in table.columns],
    }


def _column(table: TableFit, fit: Fit) -> dict[str, Any]:
    unfit = fit.there - fit.fit
    return {
        "column": fit.column,
        "declared": _kind(fit),
        "cells": fit.there,
        "fit": fit.fit,
        "unfit": unfit,
        "missing": table.rows - fit.there,
        "below": fit.below,
        "above": fit.above,
        "none_of_the_values": unfit if isinstance(fit.declared, Category) else None,
        "longer": unfit if isinstance(fit.declared, Text) else None,
        "people_beyond_max_groups": _beyond(fit.groups),
        "none_fits": bool(table.rows and not fit.fit),
        "notes": _notes(table, fit),
    }


def _beyond(beyond: Beyond | None) -> dict[str, int] | None:
    return None if beyond is None else {"default": beyond.default, "ceiling": beyond.most}
