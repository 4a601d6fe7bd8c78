"""A case's session, and what its answer would be without noise: from DuckDB, and from our own engine."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb

import sfumato as sf
from benchmarks.real.cases import DELTA, Case, Policy
from benchmarks.real.tables import real
from benchmarks.repeated import Counted, Counting

NOISELESS = 10**6
Rows = dict[tuple[Any, ...], dict[str, Any]]


def opened(policy: Policy, pure: bool, ledger: Path) -> sf.Session:
    return sf.protect(
        real(policy.table),
        table=policy.table,
        unit=policy.unit,
        columns=policy.columns,
        lookups={name: sf.Lookup(real(name), key, columns) for name, (key, columns) in policy.lookups.items()},
        tables={name: sf.Table(real(name), columns) for name, columns in policy.tables.items()},
        budget=sf.Budget(10**9) if pure else sf.Budget(10**9, DELTA),
        ledger=ledger,
    )


def noiseless(session: sf.Session, case: Case) -> Counted:
    """What our own engine counts for a case, for release with next to no noise. Of a person the same rows count."""
    counting = Counting(session)
    asked, clear = (counting.of(case.question, spend, case.caps) for spend in (case.spend, NOISELESS))
    return Counted(session, clear.planned, asked.found)


def tables(policy: Policy, *, clipped: bool) -> Any:
    """DuckDB with the tables of a policy, as bounds clip them or as they are."""
    raw = duckdb.connect()
    beside = {name: columns for name, (_, columns) in policy.lookups.items()}
    for name, columns in {policy.table: policy.columns, **policy.tables, **beside}.items():
        ends = [
            f'CASE WHEN "{column}" < {declared.lower} THEN {declared.lower} WHEN "{column}" > {declared.upper}'
            f' THEN {declared.upper} ELSE "{column}" END AS "{column}"'
            for column, declared in columns.items()
            if clipped and isinstance(declared, sf.Int | sf.Float) and declared.lower is not None
        ]
        replaced = f"REPLACE ({', '.join(ends)})" if ends else ""
        raw.execute(f"CREATE VIEW {name} AS SELECT * {replaced} FROM '{real(name)}'")
    return raw


def truth_of(case: Case, policy: Policy, *, clipped: bool) -> list[dict[str, Any]]:
    """The question, asked of DuckDB."""
    found = tables(policy, clipped=clipped).execute(case.truth or case.question)
    names = [column[0] for column in found.description]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def by_key(rows: Any, measured: set[str]) -> Rows:
    return {key_of(row, measured): row for row in rows}


def key_of(row: Mapping[str, Any], measured: set[str]) -> tuple[Any, ...]:
    return tuple(value for name, value in row.items() if name not in measured)
