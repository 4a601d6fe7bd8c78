"""Discovered keys: how many people one takes, and how many are shown of real ones, by counts and by weights.

Expected numbers, by the law of the noise: nothing is drawn.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from math import erfc, sqrt
from pathlib import Path

import sfumato as sf
from benchmarks.measure import Report
from benchmarks.real.cases import DELTA, POLICIES, Policy
from sfumato.door import written
from sfumato.engines.arrange import look
from sfumato.kernel.certify import Certified, certify
from sfumato.kernel.widths import deviation
from sfumato.ledger.terms import Terms
from sfumato.query.capping import AskedCaps
from sfumato.query.planned import prepared
from sfumato.schema.table import Schema

SPEND, EVEN = Fraction(1, 2), Fraction(1, 2)
PEOPLE = {1: 110, 5: 250}  # at most so many people, where each of them may hold so many keys
PLANES = replace(POLICIES["aircraft"], unit=sf.Person("tailnum", max_rows=40, max_groups=10))
PATIENTS = replace(POLICIES["hospital"], unit=sf.Person("id", max_rows=60, max_groups=10))
ASKED = (
    ("dest by plane", PLANES, "dest", "AVG(arr_delay) AS x", "flights", (2, 10)),
    ("carrier, dest by plane", PLANES, "carrier, dest", "AVG(arr_delay) AS x", "flights", (5, 10)),
    ("test by patient", PATIENTS, "test", "AVG(value) AS x", "labs", (2, 5, 10)),
)


def shown(opened: Callable[[Policy, bool, Path], sf.Session], folder: Path) -> Report:
    report = Report(f"discovered keys at spend {float(SPEND):g} with delta {DELTA:g}, by the law of the noise")
    for groups, most in PEOPLE.items():
        few, many = _people(groups)
        what = f"shown half of the time, {groups} group{'s' * (groups > 1)} a person, who hold"
        report.add(f"{what} as many", many, "people", at_most=most)
        if groups > 1:
            report.add(f"{what} one", few, "people")
    for name, policy, keys, call, table, caps in ASKED:
        with opened(policy, False, folder / f"{name}.ledger") as session:
            for groups in caps:
                for beside, share in ((f", {call}", "a quarter"), ("", "keys alone")):
                    text = f"SELECT {keys}{beside} FROM {table} GROUP BY {keys}"
                    there, counts, weights = _expected(session, text, groups)
                    what = f"{name}, {groups} groups, {share}: of {there} keys by"
                    report.add(f"{what} counts", counts, "")
                    report.add(f"{what} weights", weights, "", at_least=round(counts - 0.05, 1))
    return report


def _people(groups: int) -> list[int]:
    """For a key of people who hold it alone, and of people who hold as many as count, where a sum is asked for."""
    schema = Schema("t", sf.Person("who", groups, groups), {"town": sf.Text(), "x": sf.Int(0, 1)})
    terms = Terms(sf.Budget(1000, DELTA))
    asked = prepared(["SELECT town, SUM(x) FROM t GROUP BY town"], schema, lambda: terms, SPEND)
    selection = asked.planned[0].certified.selection
    return [] if selection is None else [selection.units_for(EVEN, held) for held in (1, groups)]


def _expected(session: sf.Session, text: str, groups: int) -> tuple[int, float, float]:
    """How many keys there are, and how many of them would be shown by counts and by weights of the same people."""
    weighted = session._prepare(text, SPEND, AskedCaps(max_groups=groups)).planned[0].certified
    plan = weighted.plan
    if plan.selection is None or not plan.selection.weighted:
        raise ValueError("keys of people in several groups are found by weights")
    counted = certify(replace(plan, selection=replace(plan.selection, weighted=False)), session.schema, "rho")
    # The salt, which says which keys of a person count, is that of the one plan.
    same = replace(counted, countings=tuple(replace(one, weights=()) for one in weighted.countings))
    by_counts = list(_chances(session, same))
    return len(by_counts), sum(by_counts), sum(_chances(session, weighted))


def _chances(session: sf.Session, certified: Certified) -> Iterator[float]:
    with session._engine.slot():
        found = look(session._engine, certified.countings, written(certified, session._engine.dialect))
    if certified.selection is not None and found.units is not None:
        threshold, sigma = certified.selection.threshold, deviation(certified.selection.law)
        for units in found.units.tolist():
            yield erfc((threshold - units - 0.5) / (sigma * sqrt(2))) / 2
