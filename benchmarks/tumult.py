"""python -m benchmarks.tumult PYTHON: some of the real questions beside Tumult Analytics, which is PYTHON's.

Not a topic, and not in `make bench`: it needs Java 17 and Spark. PYTHON belongs to an environment of its own:
python3 -m venv tumult && tumult/bin/pip install --require-hashes -r benchmarks/tumult.lock
"""

import json
import subprocess
import sys
import tempfile
from math import sqrt
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.measure import Report
from benchmarks.real.beside import key_error, named, our_scales
from benchmarks.real.cases import CASES, POLICIES, Case
from benchmarks.real.ratios import WORSE, Ratio, of_runs, stated
from benchmarks.real.tables import real
from benchmarks.real.truth import noiseless, opened, truth_of
from benchmarks.repeated import Counted, Counting
from sfumato.query.rewrite import MeanColumn

RUNS, THEIRS = 400, 30
SIDE = Path(__file__).resolve().with_name("tumult_side.py")
# What each case of the other side is called here: a question of `real`, and whether its budget is pure.
ASKED = {
    "count": ("SELECT COUNT(*) AS n FROM flchain WHERE death = 1 AND age >= 70", True),
    "sum": ("SELECT SUM(distance) AS d FROM flights WHERE month = 2", False),
    "average": ("SELECT AVG(creatinine) AS c FROM flchain", True),
    "average by group": ("SELECT origin, AVG(dep_delay) AS d FROM flights GROUP BY origin", False),
    "count by year, a row of each": ("SELECT year, COUNT(*) AS n FROM rwm GROUP BY year", False),
    "average by group, five rows of each": ("SELECT female, AVG(docvis) AS v FROM rwm GROUP BY female", False),
    "median, ρ": ("SELECT MEDIAN(age) AS m FROM titanic", False),
    "median, ε": ("SELECT MEDIAN(age) AS m FROM titanic", True),
    "quantile, ε": ("SELECT QUANTILE(creatinine, 0.9) AS q FROM flchain", True),
    "keys, many rows": ("SELECT native_country, COUNT(*) AS n FROM adult GROUP BY native_country", False),
    "keys, few rows": ("SELECT chapter, COUNT(*) AS n FROM flchain GROUP BY chapter", False),
}
# Those that `real` asks together with others.
ALONE = (
    Case("by group", "flights", ASKED["average by group"][0]),
    Case("by group", "panel", ASKED["count by year, a row of each"][0], caps={"max_rows_per_group": 1}),
)


def main(python: str) -> int:
    cases = {name: _case(*asked) for name, asked in ASKED.items()}
    with tempfile.TemporaryDirectory() as folder:
        sessions = {
            name: opened(POLICIES[case.policy], case.pure, Path(folder) / f"{number}.ledger")
            for number, (name, case) in enumerate(cases.items())
        }
        asked = {
            name: Counting(sessions[name]).of(case.question, case.spend, case.caps) for name, case in cases.items()
        }
        theirs = _asked_of(str(Path(python).absolute()), asked)
        report = Report(f"Beside Tumult, {THEIRS} of its runs where nothing is stated: our error / its")
        for name, one in asked.items():
            for what, ratio in _ratios(cases[name], one, theirs[name]):
                report.add(f"{name}, {what}: {ratio.value:.3g}, at least", ratio.low, "×", at_most=WORSE)
    report.show()
    return 0


def _case(question: str, pure: bool) -> Case:
    return next(case for case in (*CASES, *ALONE) if (case.question, case.pure) == (question, pure))


def _asked_of(python: str, asked: dict[str, Counted]) -> dict[str, Any]:
    """What the other side answers at the same price."""
    cases = []
    for name, one in asked.items():
        plan, cost = one.planned.certified.plan, one.planned.certified.cost
        delta = 0.0 if plan.selection is None else float(plan.selection.delta)
        cases.append({"name": name, "currency": cost.currency, "amount": float(cost.amount), "delta": delta})
    tables = {name: str(real(name)) for name in ("flchain", "flights", "rwm", "titanic", "adult")}
    order = json.dumps({"tables": tables, "runs": THEIRS, "cases": cases})
    with tempfile.TemporaryDirectory() as folder:  # Spark leaves its tables where it runs
        side = [python, str(SIDE)]
        done = subprocess.run(side, input=order + "\n", cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _ratios(case: Case, asked: Counted, theirs: dict[str, Any]) -> list[tuple[str, Ratio]]:
    if "scales" in theirs:
        return [("by scale", stated(_by_scale(case, asked, theirs["scales"])))]
    if "runs" in theirs:
        ((truth,),) = (row.values() for row in truth_of(case, POLICIES[case.policy], clipped=True))
        (name,) = (column.name for column in asked.planned.columns)
        ours = [abs(answer.rows[0][name] - truth) for answer in asked.answers(RUNS)]
        return [("error", of_runs(np.array(ours), np.abs(np.array(theirs["runs"]) - truth)))]
    exact = named(asked.found.groups, asked.found.entries)
    released = [asked.released() for _ in range(RUNS)]
    both = [
        [named(one.groups, one.values) for one in released],
        [{f"{key}|0": (many,) for key, many in run.items()} for run in theirs["keys"]],
    ]
    missed = [np.array([len(exact) - len(run) for run in runs], dtype=float) for runs in both]
    errors = [np.array([key_error(asked.planned.columns[-1], run, exact) for run in runs]) for runs in both]
    return [("keys not shown", of_runs(*missed, middle=np.mean)), ("counts", of_runs(*errors))]


def _by_scale(case: Case, asked: Counted, theirs: list[float]) -> float:
    """Of an average what both scales make of it: Tumult's sums are from the middle, too."""
    ours, column = our_scales(asked), asked.planned.columns[-1]
    if not isinstance(column, MeanColumn):
        return ours[0] / theirs[0]
    groups: Any = noiseless(asked.session, case).released().values
    step = float(column.lattice.step)
    means = [row[column.total] / row[column.count] * step for row in groups if row[column.count] > 0]
    return median(
        sqrt(ours[column.total] ** 2 + (mean * ours[column.count]) ** 2)
        / sqrt(theirs[0] ** 2 + (mean * theirs[1]) ** 2)
        for mean in means
    )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
