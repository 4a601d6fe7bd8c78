"""Questions people ask of real tables: do 95 % error bars hold, as clipped and as it is, and how wide are they?"""

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

import duckdb

import sfumato as sf
from benchmarks.measure import Report
from benchmarks.real.cases import CASES, DELTA, KINDS, POLICIES, Case, Policy
from benchmarks.real.tables import real
from sfumato.answers.answer import finish
from sfumato.door import written
from sfumato.engines.arrange import look_at_all
from sfumato.kernel.entropy import SystemEntropy
from sfumato.kernel.gate import Receipt, release
from sfumato.query.capping import AskedCaps

RUNS = 20
NOISELESS = 10**6
Rows = dict[tuple[Any, ...], dict[str, Any]]


@dataclass
class Held:
    """Of every number that had a bar: whether it held, and its half width against the truth."""

    clipped: list[bool] = field(default_factory=list)
    unclipped: list[bool] = field(default_factory=list)
    widths: list[float] = field(default_factory=list)
    without: int = 0


def run() -> Iterator[Report]:
    report = Report(f"{len(CASES)} questions about real tables, {RUNS} runs each: how often 95 % error bars hold")
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(Path(folder))
        by_kind = {kind: [desk.held(case) for case in CASES if case.kind == kind] for kind in KINDS}
    for kind, found in by_kind.items():
        name = f"{kind}, {len(found)} questions"
        clipped, unclipped = (
            [held for one in found for held in getattr(one, side)] for side in ("clipped", "unclipped")
        )
        report.add(f"{name}, rows as clipped", _percent(clipped), "%")
        report.add(f"{name}, all rows", _percent(unclipped), "%")
        report.add(
            f"{name}, half width", 100 * median(median(one.widths) for one in found if one.widths), "% of the truth"
        )
        if without := sum(one.without for one in found):
            report.add(f"{name}, numbers without a bar", without, "")
    everything = [held for found in by_kind.values() for one in found for held in one.clipped]
    report.add(f"all {len(everything):,} numbers, rows as clipped", _percent(everything), "%", at_least=93)
    yield report


def _percent(held: list[bool]) -> float:
    return 100 * sum(held) / len(held)


class Desk:
    """A ledger a case: what is left of its delta would not discover keys for all of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.opened = count()

    def held(self, case: Case) -> Held:
        policy = POLICIES[case.policy]
        with _opened(policy, case.pure, self.folder / f"{next(self.opened)}.ledger") as session:
            return self._held(case, policy, session)

    def _held(self, case: Case, policy: Policy, session: sf.Session) -> Held:
        answers = [session.ask(case.question, spend=case.spend, fresh=True, **case.caps) for _ in range(RUNS)]
        measured = {name for answer in answers for bars in answer.interval() for name in bars}
        raw = _by_key(_truth(case, policy, clipped=False), measured)
        clipped = _by_key(_truth(case, policy, clipped=True), measured)
        if case.capped:
            clipped = _by_key(_noiseless(session, case), measured)
        held = Held()
        for answer in answers:
            for row, bars in zip(answer.rows, answer.interval(), strict=True):
                key = _key(row, measured)
                for name, pair in bars.items():
                    _note(held, pair, clipped.get(key, {}).get(name, 0), raw.get(key, {}).get(name, 0))
        return held


def _opened(policy: Policy, pure: bool, ledger: Path) -> sf.Session:
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


def _noiseless(session: sf.Session, case: Case) -> Any:
    """What our own engine counts for a case, released with next to no noise. Of a person the same rows count."""
    caps = AskedCaps(**case.caps)
    (asked,), (clear,) = (session._prepare(case.question, spend, caps).planned for spend in (case.spend, NOISELESS))
    with session._engine.slot():
        countings = asked.certified.countings
        (found,) = look_at_all(session._engine, [(countings, written(asked.certified, session._engine.dialect))])
    certified = clear.certified
    released = release(certified, Receipt(1, certified.digest), found, SystemEntropy())
    balance = session.budget
    cost = balance.cost(Fraction(NOISELESS), Fraction(0))
    return finish(
        case.question,
        certified,
        clear.columns,
        released,
        cost=cost,
        balance=balance,
        when="",
        cached=True,
        after=clear.after,
    ).rows


def _note(held: Held, pair: Any, clipped: float | None, raw: float | None) -> None:
    if pair is None:
        held.without += 1
        return
    slack = 1e-9 * max(abs(pair[0]), abs(pair[1]), 1)  # a sum of doubles in another order
    for found, truth in ((held.clipped, clipped), (held.unclipped, raw)):
        if truth is not None:  # of no rows, no mean
            found.append(pair[0] - slack <= truth <= pair[1] + slack)
    if raw:
        held.widths.append((pair[1] - pair[0]) / 2 / abs(raw))


def _truth(case: Case, policy: Policy, *, clipped: bool) -> list[dict[str, Any]]:
    """The question, asked of DuckDB."""
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
    found = raw.execute(case.truth or case.question)
    names = [column[0] for column in found.description]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def _by_key(rows: Any, measured: set[str]) -> Rows:
    return {_key(row, measured): row for row in rows}


def _key(row: Mapping[str, Any], measured: set[str]) -> tuple[Any, ...]:
    return tuple(value for name, value in row.items() if name not in measured)
