"""Anonymising Adult with the hierarchies given: our searches, anjana in the same run, and pycanon as the judge.

anjana 1.2.3 and pycanon 1.3.6 pin old versions of NumPy, pandas and Typer, and each other to 1.3.5. Both work with the
versions used here when installed without their dependencies: pip install --no-deps anjana pycanon beartype.
"""

import contextlib
import io
from collections.abc import Iterator
from typing import Any

import anjana.anonymity
import numpy as np
import pandas as pd
import pycanon.anonymity

import sfumato as sf
from benchmarks.measure import Report, medians
from tests.anonymise.adult import FILES, QUASI
from tests.tables import adult

OCCUPATION = "occupation"
# With all eight anjana takes minutes.
FIVE = ["age", "education", "marital_status", "sex", "native_country"]
MILLION = 1_000_000


def run() -> Iterator[Report]:
    yield _large()
    folder = adult()
    table = pd.read_csv(folder / "train.csv").dropna().reset_index(drop=True)
    rules = {column: str(folder / "hierarchies" / f"{name}.csv") for column, name in FILES.items()}
    yield _searches(table, rules)
    yield _against_anjana(table, rules)
    yield _judged(table, rules)


def _ask(table: pd.DataFrame, rules: dict[str, str], **wish: Any) -> sf.anonymise.AnonymisedTable:
    return sf.anonymise.k_anonymity(table, QUASI, k=5, hierarchies=rules, **wish)


def _cut(table: pd.DataFrame, rules: dict[str, str], **wish: Any) -> sf.anonymise.AnonymisedTable:
    return sf.anonymise.mondrian(table, QUASI, k=5, hierarchies=rules, **wish)


def _searches(table: pd.DataFrame, rules: dict[str, str]) -> Report:
    report = Report(
        f"Adult, {len(table):,} rows, {len(QUASI)} quasi-identifiers, k = 5: whole calls, from frame to result"
    )
    secret = {"sensitive": OCCUPATION}
    targets = {
        "optimal search": (lambda: _ask(table, rules), 0.15),
        "every node": (lambda: _ask(table, rules, search="exhaustive"), 1.0),
        "Mondrian": (lambda: _cut(table, rules), 0.1),
        "optimal search, 2 % suppression": (lambda: _ask(table, rules, suppression=0.02), None),
        "optimal search, distinct l = 3": (lambda: _ask(table, rules, l=3, **secret), 0.3),
        "optimal search, entropy l = 3": (lambda: _ask(table, rules, l=3, diversity="entropy", **secret), 0.3),
        "optimal search, recursive (4, 3)": (
            lambda: _ask(table, rules, l=3, diversity="recursive", c=4, **secret),
            0.3,
        ),
        "optimal search, t = 0.2, 2 % suppression": (
            lambda: _ask(table, rules, t=0.2, suppression=0.02, **secret),
            0.3,
        ),
        "optimal search, t = 0.2": (lambda: _ask(table, rules, t=0.2, **secret), 0.3),
        "Mondrian, l = 3": (lambda: _cut(table, rules, l=3, **secret), 0.3),
        "Mondrian, t = 0.2": (lambda: _cut(table, rules, t=0.2, **secret), 0.3),
    }
    seconds = medians({name: call for name, (call, _) in targets.items()}, repetitions=3)
    for name, (_, target) in targets.items():
        report.add(name, seconds[name], "s", at_most=target)
    quick, sure = _ask(table, rules), _ask(table, rules, search="exhaustive")
    report.add("  loss above that of every node", float(quick.loss or 0) - float(sure.loss or 0), "", at_most=0)
    report.add("  nodes looked at, of 6,048", float(quick.checks or 0), "")
    return report


def _against_anjana(table: pd.DataFrame, rules: dict[str, str]) -> Report:
    report = Report("The same table and k, five quasi-identifiers, 50 % suppression allowed, against anjana")
    plain = table.astype(object)  # anjana does not take the texts of pandas 3, nor make them
    ladders = {column: _ladder(plain[column], rules[column]) for column in FIVE}
    five = {column: rules[column] for column in FIVE}

    def peer(call: Any, *wish: Any) -> Any:
        with contextlib.redirect_stdout(io.StringIO()), pd.option_context("future.infer_string", False):
            copies = {column: dict(ladder) for column, ladder in ladders.items()}
            return call(plain.copy(), [], list(FIVE), *wish, 50, copies)

    calls = {
        "k": (lambda: _five(table, five), lambda: peer(anjana.anonymity.k_anonymity, 5)),
        "k and l = 2": (
            lambda: _five(table, five, sensitive=OCCUPATION, l=2),
            lambda: peer(anjana.anonymity.l_diversity, OCCUPATION, 5, 2),
        ),
    }
    for name, (ours, theirs) in calls.items():
        seconds = medians({"ours": ours, "theirs": theirs}, repetitions=1)
        report.add(f"Sfumato, {name}", seconds["ours"], "s")
        report.add("  against anjana", seconds["theirs"] / seconds["ours"], "times", at_least=4)
    return report


def _five(table: pd.DataFrame, rules: dict[str, str], **wish: Any) -> sf.anonymise.AnonymisedTable:
    return sf.anonymise.k_anonymity(table, FIVE, k=5, hierarchies=rules, suppression=0.5, **wish)


def _ladder(column: "pd.Series[Any]", path: str) -> dict[int, Any]:
    rows = pd.read_csv(path, header=None, dtype=str, keep_default_na=False).set_index(0)
    texts = column.astype(str)
    return {
        0: np.array(column, dtype=object),
        **{level: np.array(texts.map(rows[level]), dtype=object) for level in rows.columns},
    }


def _judged(table: pd.DataFrame, rules: dict[str, str]) -> Report:
    """On every output k, l and t are what pycanon says."""
    report = Report("k, l and t of every output against pycanon")
    secret = {"sensitive": OCCUPATION}
    wishes: list[dict[str, Any]] = [{}, {"suppression": 0.02}, {"l": 3}, {"t": 0.2}, {"t": 0.4, "suppression": 0.1}]
    outputs = [_ask(table, rules, **secret, **wish) for wish in wishes]
    outputs += [_cut(table, rules, **secret, **wish) for wish in ({}, {"l": 3}, {"t": 0.2})]
    outputs.append(_ask(table, rules, sensitive="hours_per_week", suppression=0.02))
    worst = 0.0
    for result in outputs:
        frame, names = result.to_pandas(), list(result.sensitive)
        worst = max(worst, abs(float(result.k or 0) - pycanon.anonymity.k_anonymity(frame, QUASI)))
        worst = max(worst, abs(float(result.l or 0) - pycanon.anonymity.l_diversity(frame, QUASI, names)))
        worst = max(worst, abs(float(result.t or 0) - pycanon.anonymity.t_closeness(frame, QUASI, names)))
    report.add(f"largest difference over {len(outputs)} outputs", worst, "", at_most=1e-12)
    return report


def _large() -> Report:
    report = Report("A million rows, three quasi-identifiers, k = 20")
    source = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": source.integers(18, 90, MILLION),
            "zip": source.integers(10_000, 10_400, MILLION),
            "sex": np.array(["f", "m"])[source.integers(0, 2, MILLION)],
        }
    )
    rules = {"age": "intervals:5,10,20", "zip": "prefixes"}
    quasi = list(table.columns)
    calls = {
        "optimal search": lambda: sf.anonymise.k_anonymity(table, quasi, k=20, hierarchies=rules),
        "Mondrian": lambda: sf.anonymise.mondrian(table, quasi, k=20),
        "risk": lambda: sf.anonymise.risk(table, quasi),
    }
    distinct = table.assign(
        id=[f"id{number:07d}" for number in source.permutation(MILLION)], income=source.random(MILLION)
    )
    beside = ["id", "age", "sex"]
    calls |= {
        "optimal search, a column of a million texts": lambda: sf.anonymise.k_anonymity(distinct, beside, k=20),
        "Mondrian, a column of a million numbers": lambda: sf.anonymise.mondrian(distinct, ["income", "age"], k=20),
        "risk, a column of a million texts": lambda: sf.anonymise.risk(distinct, beside),
        "risk of a million sensitive values": lambda: sf.anonymise.risk(distinct, quasi, sensitive="income"),
    }
    for name, seconds in medians(calls, repetitions=1).items():
        report.add(name, seconds, "s", at_most=5)
    return report
