"""What `sfumato anonymise` and `sfumato risk` read and print."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sfumato.anonymise import AnonymisedTable
from sfumato.anonymise.wordings import no_quasi
from sfumato.cli.format import Format, Usual
from sfumato.cli.output import as_csv, as_json, as_table, split, write
from sfumato.errors import UsageError
from sfumato.schema.policy import load_policy


def listed(given: Sequence[str] | None) -> list[str]:
    """Columns, repeated or with commas between them."""
    return [name for text in given or () for name in split(text)]


def pairs(given: Sequence[str] | None, option: str, example: str) -> dict[str, str]:
    """name=value options."""
    found = {}
    for text in given or ():
        name, sign, value = text.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise UsageError(f"{option} {text} is not name=value.", f"Write e.g. {option} {example}.")
        found[name.strip()] = value.strip()
    return found


def parts(
    quasi: Sequence[str] | None, sensitive: Sequence[str] | None, policy: Path | None
) -> tuple[list[str], list[str], list[str]]:
    """Quasi-identifiers, sensitive columns and identifiers: what is typed, or else what the policy says."""
    roles: Mapping[str, str] = {} if policy is None else load_policy(policy).roles
    by_role = {
        role: [name for name, played in roles.items() if played == role]
        for role in ("quasi-identifier", "sensitive", "identifier")
    }
    names = listed(quasi) or by_role["quasi-identifier"]
    if not names:
        raise no_quasi()
    secrets = [name for name in listed(sensitive) or by_role["sensitive"] if name not in names]
    return names, secrets, [name for name in by_role["identifier"] if name not in (*names, *secrets)]


def show(result: AnonymisedTable, *, output: Path | None, format: Usual, report: Path | None = None) -> None:
    """Save the table if a file is named, and print what was done to it."""
    if output is not None:
        result.save(output)
    content = {**result.to_dict(), "output": None if output is None else str(output)}
    match format:
        case Format.json:
            write(as_json(content), report)
        case Format.csv:
            write(as_csv(["what", "value"], _rows(result)), report)
        case _:
            where = f"Wrote {output}." if output is not None else "Nothing was written; name a file with --output."
            notes = "".join(f"\nNote: {note}." for note in result.notes)
            footer = f"{_capital(result.notice)}.{notes}\n{where}"
            write(as_table(["what", "value"], _rows(result), footer=footer), report)


def _rows(result: AnonymisedTable) -> list[dict[str, Any]]:
    lost = result.lost
    facts: dict[str, object] = {
        "method": result.method,
        "rows": f"{result.to_arrow().num_rows:,}",
        "k (measured)": result.k,
        "l (measured)": result.l,
        "t (measured)": _number(result.t),
        "groups": lost.groups,
        "rows left out": f"{lost.rows:,} ({lost.share:.2%})" if lost.rows else None,
        "cells hidden or changed": lost.cells or None,
        "columns removed": ", ".join(lost.columns) or None,
        "loss of a cell": _number(lost.loss),
        "discernibility": None if lost.discernibility is None else f"{lost.discernibility:,.0f}",
        "mean group size over k": _number(lost.class_size),
        **{f"level of {name}": str(level) for name, level in lost.levels.items()},
        "nodes looked at": result.checks,
    }
    return [{"what": what, "value": str(value)} for what, value in facts.items() if value is not None]


def _number(value: float | None) -> str | None:
    return None if value is None else f"{value:.4f}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
