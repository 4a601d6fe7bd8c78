"""Variances, histograms and running shares without declared bounds on real columns: do their bars hold all rows?

A question as it is asked, counted once and released many times. Cells of real numbers are 0.05 % wide, and those that
lie so near to where a bin begins may be counted in its neighbour: bars hold the rows of their cells.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np
import pandas as pd

import sfumato as sf
from benchmarks.measure import Report
from benchmarks.repeated import Counted, Counting
from sfumato.kernel.mechanisms.found_ends import FoundEnds
from sfumato.kernel.mechanisms.protocol import CellCounts

Below = Callable[[Sequence[float]], Any]  # of each end how many rows lie below it
SPREADS = ("VARIANCE", "STDDEV")
LISTS = ("HISTOGRAM", "CDF")
RUNS = {"VARIANCE": 100, "STDDEV": 100, "HISTOGRAM": 40, "CDF": 40}
CALLS = {"VARIANCE": "VARIANCE(x)", "STDDEV": "STDDEV(x)", "HISTOGRAM": "HISTOGRAM(x, 10)", "CDF": "CDF(x, 10)"}
BUDGETS = {"ε": sf.Budget(10**9), "ρ": sf.Budget(10**9, 1e-6)}
SPENDS = (0.5, 1.0, 2.0)
FINDING = 0.33
ENOUGH = 5000  # rows, from which on variances without a long tail are near
# A few rows make the variance, or a twentieth of it.
TAILED = {"fare", "creatinine", "docvis", "hhninc", "capital_gain"}


@dataclass
class Found:
    """Of one column: in each case how often bars held all rows, of lists also those of their cells, and the rest."""

    held: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in CALLS})
    by_cells: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in LISTS})
    shown: list[float] = field(default_factory=list)
    error: float = 0.0
    bar: tuple[float, float] = 0.0, 0.0

    @property
    def spreads(self) -> list[float]:
        """A variance and its root are one release, read twice."""
        return [fmean(both) for both in zip(*(self.held[name] for name in SPREADS), strict=True)]


def reports(columns: Mapping[str, Any]) -> Iterator[Report]:
    found = {name: _measured(values) for name, values in columns.items()}
    report = Report("Ends that are found: VARIANCE and STDDEV, spends 0.5, 1, 2, in ε and ρ, 200 runs each")
    for name, one in found.items():
        rows = len(columns[name])
        near = 5 if rows >= ENOUGH and name not in TAILED else None
        report.add(f"{name}, {rows:,} rows: bars hold, least of 6 cases", 100 * min(one.spreads), "%", at_least=90)
        report.add("  a bar is shown at spends 1 and 2, lists too, least of 16", 100 * min(one.shown), "%", at_least=80)
        report.add("  error of a variance at spend 1 in ρ", 100 * one.error, "% of the truth", at_most=near)
        report.add(f"  its bar, from {one.bar[0]:.2f} to", one.bar[1], "× the truth")
    every = fmean(held for one in found.values() for held in one.spreads)
    report.add("all columns: bars hold, on average", 100 * every, "%", at_least=95)
    yield report
    report = Report("Ends that are found: HISTOGRAM and CDF of 10, the same spends, 40 runs each")
    for name, one in found.items():
        for call in LISTS:
            cells, rows = (fmean(held[call]) for held in (one.by_cells, one.held))
            report.add(f"{name}: {call}, bars hold the rows of their cells", 100 * cells, "%", at_least=93)
            report.add("  all rows", 100 * rows, "%")
    yield report


def _measured(values: Any) -> Found:
    found, ordered = Found(), np.sort(values)
    declared = sf.Int if np.issubdtype(values.dtype, np.integer) else sf.Float
    for currency, budget in BUDGETS.items():
        with (
            tempfile.TemporaryDirectory() as folder,
            sf.protect(
                pd.DataFrame({"x": values}),
                table="t",
                unit=sf.Row(),
                columns={"x": declared(private_bounds=FINDING)},
                budget=budget,
                ledger=Path(folder) / "ends.ledger",
            ) as session,
        ):
            counting = Counting(session)
            for spend in SPENDS:
                for name in CALLS:
                    asked = counting.of(f"SELECT {CALLS[name]} AS v FROM t", spend)
                    _note(found, name, asked, ordered, currency, spend)
    return found


def _note(found: Found, name: str, asked: Counted, ordered: Any, currency: str, spend: float) -> None:
    answers = list(_answers(asked, RUNS[name]))
    if spend >= 1:
        found.shown.append(len(answers) / RUNS[name])
    if name in LISTS:
        whole, bars = np.issubdtype(ordered.dtype, np.integer), [bars for _, bars in answers]
        for held, below in ((found.held, partial(np.searchsorted, ordered)), (found.by_cells, _below(asked))):
            held[name].append(
                _share(bars, [truths_of(value, below, len(ordered), whole=whole) for value, _ in answers])
            )
        return
    truth = float(ordered.var() if name == "VARIANCE" else ordered.std())
    found.held[name].append(_share([[bar] for _, bar in answers], [[truth]] * len(answers)))
    if (name, currency, spend) == ("VARIANCE", "ρ", 1):
        found.error = median(abs(value / truth - 1) for value, _ in answers)
        found.bar = median(low for _, (low, _) in answers) / truth, median(high for _, (_, high) in answers) / truth


def _answers(asked: Counted, runs: int) -> Iterator[tuple[Any, Any]]:
    """Values with their bars, where there is an answer."""
    for answer in asked.answers(runs):
        value, bars = answer.rows[0]["v"], answer.interval()[0]["v"]
        if value is not None and value != []:
            yield value, bars


def _below(asked: Counted) -> Below:
    """How many rows lie in the cells below the one of an end, which belongs to the bin that begins there."""
    ((cells,),), mechanism = asked.found.entries, asked.planned.certified.releases[0].mechanism
    assert isinstance(cells, CellCounts)
    assert isinstance(mechanism, FoundEnds)
    totals, line = np.concatenate([[0], np.cumsum(cells.counts)]), mechanism.line
    return lambda ends: totals[np.searchsorted(cells.places, [line.place(end) for end in ends])]


def truths_of(value: Sequence[Mapping[str, float]], below: Below, rows: int, *, whole: bool) -> Any:
    """Of the bins of a histogram, or the points of running shares. Of whole numbers both ends belong to a bin."""
    if "at" in value[0]:
        return below([point["at"] + whole for point in value]) / rows
    return np.diff(below([value[0]["low"], *(one["high"] + whole for one in value)]))


def _share(bars: Sequence[Any], truths: Sequence[Any]) -> float:
    """Of all bars those that hold."""
    held = [
        low <= truth <= high
        for some, each in zip(bars, truths, strict=True)
        for (low, high), truth in zip(some, each, strict=True)
    ]
    return fmean(held) if held else 1.0
