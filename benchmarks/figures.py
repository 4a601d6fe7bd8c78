"""What two revisions are compared on: own work only, through the public face, so that older trees can do it too.

A figure prepares itself in a folder of its own and returns the call to be timed, which takes well below a second.
"""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import count as numbers
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

import sfumato as sf
from benchmarks.people import EDUCATION, MARITAL, POLICY, ZIPS, people

Work = Callable[[], object]
PRICES: dict[str, dict[str, float]] = {
    "laplace": {"epsilon": 1},
    "gaussian": {"epsilon": 1, "delta": 1e-6},
    "geometric": {"epsilon": 1},
}
ROWS = 2_000_000
SOME = 100_000
COUNTED = "SELECT COUNT(*) FROM people WHERE age > 40"


@dataclass(frozen=True, slots=True)
class Figure:
    name: str
    prepare: Callable[[Path], Work]


def _noise(mechanism: str, count: int) -> Figure:
    def prepare(folder: Path) -> Work:
        del folder
        call, price = getattr(sf.noise, mechanism), PRICES[mechanism]
        values: Any = np.random.default_rng(0).normal(0, 1000, count)
        values = values.astype(np.int64) if mechanism == "geometric" else values
        values = values if count > 1 else values.tolist()[0]
        return lambda: call(values, sensitivity=1, **price)

    return Figure(f"{mechanism}, {'one number' if count == 1 else f'{count:,} numbers'}", prepare)


def _choice(folder: Path) -> Work:
    del folder
    scores = np.random.default_rng(0).uniform(0, 1000, SOME)
    return lambda: sf.noise.permute_and_flip(range(SOME), scores, sensitivity=1, epsilon=1)


def _composed(kinds: int) -> Figure:
    def prepare(folder: Path) -> Work:
        del folder
        scales = np.random.default_rng(0).choice(np.linspace(100, 1000, kinds), 1000).tolist()
        events = [("gaussian", scale) if place % 2 else ("laplace", 1 / scale) for place, scale in enumerate(scales)]
        return lambda: sf.accounting.compose(events, 1e-6)

    return Figure(f"1,000 mechanisms of {kinds} kinds, all bounds", prepare)


def _town(folder: Path) -> Path:
    pq.write_table(sf.datasets.population(), folder / "people.parquet")
    (folder / "people.toml").write_text(POLICY)
    return folder / "people.toml"


def _warm(name: str, question: str) -> Figure:
    def prepare(folder: Path) -> Work:
        session = sf.open(_town(folder))
        return lambda: session.ask(question, spend=0.1, fresh=True)

    return Figure(f"warm {name}", prepare)


def _shell(name: str, *words: str) -> Figure:
    def prepare(folder: Path) -> Work:
        _town(folder)
        command = [sys.executable, *words]
        return lambda: subprocess.run(command, cwd=folder, check=True, capture_output=True)

    return Figure(name, prepare)


def _declared() -> dict[str, Any]:
    return {
        "age": sf.Int(17, 90),
        "income": sf.Float(0, 200_000),
        "hours": sf.Float(0, 100),
        "education": sf.Category(EDUCATION),
        "marital": sf.Category(MARITAL),
    }


# Units and columns are made when a figure is prepared: what an older tree lacks costs it one figure, not all.
def _asked(
    name: str,
    question: str,
    *,
    person: bool = False,
    columns: Callable[[], dict[str, Any]] = _declared,
    others: Callable[[], dict[str, Any]] = dict,
    rows: int = ROWS,
    delta: float = 0,
    **caps: Any,
) -> Figure:
    def prepare(folder: Path) -> Work:
        session = sf.protect(
            people(rows, Path(".benchmarks")),
            table="people",
            unit=sf.Person("user_id", max_rows=8, max_groups=4) if person else sf.Row(),
            columns=columns(),
            budget=sf.Budget(10**6, delta) if delta else sf.Budget(10**6),
            ledger=folder / "people.ledger",
            **others(),
        )
        spend = sf.Spend(1, 1e-9) if delta else 0.5
        return lambda: session.ask(question, spend=spend, fresh=True, **caps)

    return Figure(f"{name}, {rows / 1e6:g} M rows", prepare)


def _with_zip() -> dict[str, Any]:
    return {**_declared(), "zip": sf.Text()}


def _regions() -> dict[str, Any]:
    """Ten regions of a thousand towns each."""
    table = pd.DataFrame({"zip": ZIPS, "region": [int(zip_[1]) for zip_ in ZIPS]})
    return {"lookups": {"areas": sf.Lookup(table, "zip", {"region": sf.Int(0, 9)})}}


def _table(count: int) -> pd.DataFrame:
    source = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": source.integers(18, 90, count),
            "zip": source.integers(10_000, 10_400, count),
            "sex": np.array(["f", "m"])[source.integers(0, 2, count)],
            "income": source.random(count),
        }
    )


def _anonymised(name: str, call: str, quasi: list[str], **wish: Any) -> Figure:
    def prepare(folder: Path) -> Work:
        del folder
        table = _table(SOME)
        return lambda: getattr(sf.anonymise, call)(table, quasi, **wish)

    return Figure(f"{name}, {SOME:,} rows", prepare)


def _linking(folder: Path) -> Work:
    del folder
    table = _table(SOME // 5).drop(columns="income")
    register = table.assign(who=range(len(table)))
    everybody = list(range(len(table)))
    return lambda: sf.attacks.linking(table, register, ["age", "zip", "sex"], identity="who", truth=everybody)


def _reconstruction(folder: Path) -> Work:
    del folder
    bits = np.random.default_rng(0).integers(0, 2, 64)
    return lambda: sf.attacks.reconstruction(lambda chosen: bits[chosen].sum(), 64, questions=256, truth=bits)


def _positions(folder: Path) -> Work:
    del folder
    mechanism = sf.geo.planar(level="ln 4", radius_m=200)
    lat, lon = np.full(SOME, 39.96), np.full(SOME, 116.31)
    return lambda: mechanism.report(lat, lon)


def _quadtree(folder: Path) -> Work:
    del folder
    source = np.random.default_rng(0)
    points = np.stack([source.normal(40, 1, SOME), source.normal(110, 2, SOME)], axis=1).clip([20, 90], [54, 134])
    box = sf.geo.Box(20.0, 90.0, 55.0, 135.0)
    return lambda: sf.geo.privtree(points, epsilon=1, box=box)


def _collected(name: str) -> Figure:
    def prepare(folder: Path) -> Work:
        del folder
        values = np.random.default_rng(0).integers(0, 128, SOME)

        def collect() -> object:
            protocol = sf.local.protocol(name, domain=range(128), epsilon=1)
            return protocol.estimate(protocol.randomise(values))

        return collect

    return Figure(f"{name}, {SOME:,} users", prepare)


def _small(folder: Path) -> "sf.Session":
    table = _table(SOME // 5).drop(columns="zip")
    columns = {"age": sf.Int(18, 90), "sex": sf.Category(["f", "m"]), "income": sf.Float(0, 1)}
    ledger = folder / "small.ledger"
    return sf.protect(table, table="t", unit=sf.Row(), columns=columns, budget=sf.Budget(10**9), ledger=ledger)


def _fit(folder: Path) -> Work:
    session = _small(folder)
    learner = sf.learn.Additive("sex", spend=1)
    return lambda: learner.fit(session, fresh=True)


def _draw(folder: Path) -> Work:
    from sfumato.plan.expressions import Column
    from sfumato.plan.nodes import CountRows, ListedKey, Measure, Plan

    envelope, rounds = _small(folder).envelope("draws", spend=10**6), numbers()
    keys = (ListedKey(Column("sex"), ("f", "m")),)
    plan = Plan("t", sf.Row(), None, keys, (Measure(CountRows(), "laplace", Fraction(1, 100)),))
    return lambda: envelope.ask(plan, round_=next(rounds))


def _unbounded() -> dict[str, Any]:
    return {"age": sf.Int(private_bounds=0.1)}


FIGURES: dict[str, tuple[Figure, ...]] = {
    "noise": (
        *(_noise(mechanism, count) for mechanism in PRICES for count in (1, 1_000_000)),
        Figure(f"permute-and-flip, {SOME:,} candidates", _choice),
    ),
    "accounting": (_composed(1), _composed(16)),
    "latency": (
        _warm("COUNT", COUNTED),
        _warm("GROUP BY", "SELECT sex, COUNT(*), AVG(income) FROM people WHERE age > 40 GROUP BY sex"),
        _shell("sfumato --help", "-m", "sfumato", "--help"),
        _shell("import sfumato", "-c", "import sfumato"),
        _shell("sfumato ask, cold", "-m", "sfumato", "ask", "people.toml", COUNTED, "--spend", "0.1", "--fresh"),
        _shell("a town, cold", "-c", "import sfumato; sfumato.datasets.population()"),
    ),
    "engine": (
        _asked("SUM", "SELECT SUM(income) FROM people"),
        _asked("AVG", "SELECT AVG(hours) FROM people"),
        _asked("COUNT, SUM, AVG", "SELECT COUNT(*), SUM(income), AVG(hours) FROM people"),
        _asked("COUNT, WHERE", "SELECT COUNT(*) FROM people WHERE age >= 30"),
        _asked("GROUP BY", "SELECT education, marital, COUNT(*), SUM(income) FROM people GROUP BY education, marital"),
        _asked(
            "GROUP BY, unit Person",
            "SELECT education, marital, COUNT(*), SUM(income) FROM people GROUP BY education, marital",
            person=True,
            rows=SOME * 5,
        ),
        _asked(
            "GROUP BY, a row of each in a group",
            "SELECT education, marital, COUNT(*), SUM(income) FROM people GROUP BY education, marital",
            person=True,
            rows=SOME * 5,
            max_rows_per_group=1,
        ),
        _asked(
            "GROUP BY, what was clipped",
            "SELECT education, SUM(income) FROM people GROUP BY education",
            person=True,
            rows=SOME * 5,
            clipped=True,
        ),
        _asked(
            "join of a lookup",
            "SELECT region, COUNT(*) FROM people JOIN areas USING (zip) GROUP BY region",
            columns=_with_zip,
            others=_regions,
        ),
        _asked(
            "fold of people",
            "SELECT AVG(most) FROM (SELECT user_id, MAX(hours) AS most FROM people GROUP BY user_id) AS v",
            person=True,
            rows=SOME * 5,
        ),
    ),
    "answers": (
        _asked("MEDIAN", "SELECT MEDIAN(income) FROM people"),
        _asked("HISTOGRAM", "SELECT HISTOGRAM(hours, 20) FROM people"),
        _asked("VARIANCE", "SELECT VARIANCE(hours) FROM people"),
        _asked(
            "discovered keys",
            "SELECT zip, COUNT(*) FROM people GROUP BY zip",
            person=True,
            rows=SOME * 5,
            delta=1e-3,
            columns=lambda: {"zip": sf.Text()},
        ),
        _asked(
            "keys found by weights",
            "SELECT zip, SUM(hours) FROM people GROUP BY zip",
            person=True,
            rows=SOME * 5,
            delta=1e-3,
            columns=_with_zip,
        ),
    ),
    "anonymise": (
        _anonymised("optimal search", "k_anonymity", ["age", "zip", "sex"], k=20),
        _anonymised("Mondrian", "mondrian", ["age", "zip", "sex"], k=20),
        _anonymised("Mondrian, different numbers", "mondrian", ["income", "age"], k=20),
        _anonymised("risk", "risk", ["age", "zip", "sex"]),
    ),
    "attacks": (Figure(f"linking, {SOME // 5:,} rows", _linking), Figure("reconstruction, 64 bits", _reconstruction)),
    "geo": (Figure(f"positions, {SOME:,}", _positions), Figure(f"quadtree, {SOME:,} points", _quadtree)),
    "local": (_collected("grr"), _collected("oue"), _collected("olh")),
    "bounds": (
        _asked("SUM, bounds found", "SELECT SUM(age) FROM people", columns=_unbounded),
        _asked("MEDIAN, no bounds", "SELECT MEDIAN(age) FROM people", columns=_unbounded),
        _asked("VARIANCE, ends found", "SELECT VARIANCE(age) FROM people", columns=_unbounded),
    ),
    "learn": (
        Figure(f"fit of Additive, {SOME // 5:,} rows", _fit),
        Figure(f"draw from an envelope, {SOME // 5:,} rows", _draw),
    ),
}
