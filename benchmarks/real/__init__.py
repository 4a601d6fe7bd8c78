"""Questions people ask of real tables: do 95 % error bars hold, as clipped and as it is, and how wide are they?"""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

import sfumato as sf
from benchmarks.measure import Report
from benchmarks.real import beside
from benchmarks.real.cases import CASES, KINDS, POLICIES, Case, Policy
from benchmarks.real.keys import shown
from benchmarks.real.truth import by_key, key_of, noiseless, opened, truth_of

RUNS = 20


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
    with tempfile.TemporaryDirectory() as folder:
        yield shown(opened, Path(folder))
    yield from beside.run()


def _percent(held: list[bool]) -> float:
    return 100 * sum(held) / len(held)


class Desk:
    """A ledger a case: what is left of its delta would not discover keys for all of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.opened = count()

    def held(self, case: Case) -> Held:
        policy = POLICIES[case.policy]
        with opened(policy, case.pure, self.folder / f"{next(self.opened)}.ledger") as session:
            return self._held(case, policy, session)

    def _held(self, case: Case, policy: Policy, session: sf.Session) -> Held:
        answers = [session.ask(case.question, spend=case.spend, fresh=True, **case.caps) for _ in range(RUNS)]
        measured = {name for answer in answers for bars in answer.interval() for name in bars}
        raw = by_key(truth_of(case, policy, clipped=False), measured)
        clipped = by_key(truth_of(case, policy, clipped=True), measured)
        if case.capped:
            clipped = by_key(noiseless(session, case).answer().rows, measured)
        held = Held()
        for answer in answers:
            for row, bars in zip(answer.rows, answer.interval(), strict=True):
                key = key_of(row, measured)
                for name, pair in bars.items():
                    _note(held, pair, clipped.get(key, {}).get(name, 0), raw.get(key, {}).get(name, 0))
        return held


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
