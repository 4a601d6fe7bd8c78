"""The figures of the attacks, on the census extract Adult and on secrets made up."""

import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv

import sfumato as sf
from benchmarks.measure import Report
from sfumato.attacks.promise import most_hits, most_told_apart
from sfumato.simulate import Simulator
from tests.tables import adult

GROWING = (
    (("age", "sex", "race", "education"), 0.027),
    (("marital_status", "occupation"), 0.263),
    (("workclass", "native_country"), 0.422),
    (("hours_per_week",), 0.677),
)
NUMBERS = ["age", "education_num", "capital_gain", "capital_loss", "hours_per_week", "fnlwgt"]
PEOPLE, QUESTIONS = 256, 1_024
DRAWS = 200


def run() -> Iterator[Report]:
    yield from (_reconstruction(), _membership(), _clocks())
    table = census()
    yield from (_linking(table), _homogeneity(table), _rotation(table))


def census() -> pa.Table:
    parts = [csv.read_csv(adult() / f"{name}.csv") for name in ("train", "test")]
    whole = pa.concat_tables(parts, promote_options="default")
    place = whole.column_names.index("income")
    return whole.set_column(place, "income", pc.utf8_rtrim(whole["income"], "."))


def _linking(table: pa.Table) -> Report:
    report = Report("Linking: rows of the census extract that columns single out")
    everybody, columns = list(range(table.num_rows)), []
    register = table.append_column("who", pa.array(everybody))
    for more, wanted in GROWING:
        columns += more
        start = time.perf_counter()
        found = sf.attacks.linking(table, register, columns, identity="who", truth=everybody)
        report.add(f"{len(columns)} columns, share named", found.success, "", at_least=wanted - 0.0006)
        report.add("  seconds", time.perf_counter() - start, "s", at_most=5)
    return report


def _homogeneity(table: pa.Table) -> Report:
    report = Report("Homogeneity: classes of at least 5 by decade, sex, race and education")
    quasi = ["age", "sex", "race", "education"]
    decade = pc.cast(pc.multiply(pc.divide(table["age"], 10), 10), pa.string())
    coarse = table.set_column(0, "age", decade)
    large = coarse.group_by(quasi).aggregate([([], "count_all")]).filter(pc.field("count_all") >= 5)
    kept = coarse.join(large.drop_columns(["count_all"]), quasi, join_type="inner")
    start = time.perf_counter()
    found = sf.attacks.homogeneity(kept, quasi, "income")
    report.add("classes", large.num_rows, "")
    report.add("classes with one income", len(found.recovered), "", at_least=125)
    report.add("share of all rows in them", found.success * kept.num_rows / table.num_rows, "", at_least=0.07)
    report.add("seconds", time.perf_counter() - start, "s", at_most=1)
    return report


def _rotation(table: pa.Table) -> Report:
    report = Report("Rotation of six numeric columns")
    values = np.stack([table[name].to_numpy().astype(float) for name in NUMBERS], axis=1)
    values = (values - values.mean(axis=0)) / values.std(axis=0) + 3
    turn = np.linalg.qr(Simulator(0).stream("turn").normal(36).reshape(6, 6))[0]
    turn[:, 0] *= np.sign(np.linalg.det(turn))
    true, turned = _table(values), _table(values @ turn)
    for rows, most in ((3, None), (5, 1e-9)):
        found = sf.attacks.known_sample(turned, true.slice(0, rows), range(rows), NUMBERS, truth=true)
        report.add(f"error with {rows} known rows", found.measures["rmse"], "deviations", at_most=most)
    half = len(values) // 2
    found = sf.attacks.known_distribution(
        turned.slice(0, half), true.slice(half), NUMBERS, truth=true.slice(0, half), tolerance=0.5
    )
    report.add("error with no known row", found.measures["rmse"], "deviations", at_most=0.5)
    noisy = values + Simulator(1).stream("noise").normal(values.size).reshape(values.shape)
    found = sf.attacks.denoise_additive(_table(noisy), NUMBERS, noise=1.0, truth=true)
    report.add("error under noise of one deviation", found.measures["rmse"], "deviations", at_most=0.71)
    return report


def _table(values: np.ndarray) -> pa.Table:
    return pa.table({name: values[:, place] for place, name in enumerate(NUMBERS)})


def _reconstruction() -> Report:
    report = Report(f"Reconstruction of {PEOPLE} bits from {QUESTIONS} counts of random halves")
    bits = Simulator(0).stream("bits").integers(0, 1, PEOPLE)
    draw = Simulator(1).stream("noise")

    def share(answer: Callable[[np.ndarray], float]) -> float:
        return float(
            np.mean(
                [
                    sf.attacks.reconstruction(answer, PEOPLE, questions=QUESTIONS, truth=bits, seed=seed).success
                    for seed in range(3)
                ]
            )
        )

    for deviation, least in ((2, 0.99), (4, 0.95), (8, None), (16, None)):
        found = share(lambda chosen, wide=deviation: bits[chosen].sum() + wide * draw.normal(1)[0])
        report.add(f"noise of deviation {deviation}, share right", found, "", at_least=least)
    for epsilon, most in ((1, 0.57), (10, 0.57), (100, None)):

        def private(chosen: np.ndarray, price: float = epsilon) -> float:
            return sf.noise.geometric(int(bits[chosen].sum()), sensitivity=1, epsilon=price / QUESTIONS)

        report.add(f"total epsilon {epsilon}, share right", share(private), "", at_most=most)
    report.add("a session, total epsilon 10, share right", _through_a_session(bits, 10), "", at_most=0.62)
    return report


def _through_a_session(bits: np.ndarray, epsilon: int) -> float:
    """Chance is one half; four deviations of 256 coins are 0.12 above it."""
    table = pa.table({"pid": np.arange(PEOPLE), "secret": bits})
    columns = {"pid": sf.Int(0, PEOPLE), "secret": sf.Int(0, 1)}
    with TemporaryDirectory() as folder:
        ledger = Path(folder) / "bits.ledger"
        budget = sf.Budget(epsilon=epsilon)
        with sf.protect(table, unit=sf.Row(), columns=columns, budget=budget, ledger=ledger) as session:
            desk = sf.attacks.session_desk(session, spend=Fraction(epsilon, QUESTIONS))

            def ask(chosen: np.ndarray) -> float:
                return desk(f"secret = 1 AND pid IN ({', '.join(map(str, chosen.tolist()))})")

            found = sf.attacks.reconstruction(ask, PEOPLE, questions=QUESTIONS, truth=bits, epsilon=epsilon)
    return found.success


def _membership() -> Report:
    """Over many draws: the area of one moves by half a percent, more than attacks of one person differ."""
    report = Report(f"Membership in the means of 1000 facts about 100 people, {DRAWS} draws of the people")
    for rarest, least in ((0.01, 0.9885), (0.05, 0.98)):
        exact = np.array([_area(seed, rarest) for seed in range(DRAWS)])
        facts = f"exact means of facts that {rarest:.0%} to {1 - rarest:.0%} have"
        report.add(f"{facts}, area", float(exact.mean()), "", at_least=least)
        report.add("  spread of one draw", float(exact.std()), "")
    for epsilon in (1, 10):
        areas = np.array([_area(seed, 0.05, epsilon) for seed in range(DRAWS // 10)])
        report.add(f"epsilon {epsilon}, area", float(areas.mean()), "", at_most=most_hits(0.5, epsilon))
    return report


def _area(seed: int, rarest: float, epsilon: float | None = None) -> float:
    """The area under the ROC curve for exact or for private means."""
    draw, members, facts = Simulator(seed), 100, 1_000
    common = rarest + (1 - 2 * rarest) * draw.stream("common").uniform(facts)
    people = draw.stream("facts").uniform(2 * members * facts).reshape(2 * members, facts) < common
    sums = people[:members].sum(axis=0).astype(float)
    if epsilon is not None:
        sums = np.asarray(sf.noise.laplace(sums, sensitivity=facts, epsilon=epsilon))
    return sf.attacks.membership(sums / members, people, common, truth=[1] * members + [0] * members).success


def _clocks() -> Report:
    report = Report("Floats and clocks: 0 or 10 told apart at epsilon 1")
    bound = most_told_apart(1)
    textbook = sf.attacks.floating_point(sf.attacks.textbook_laplace(5.0), scale=5.0, draws=5, epsilon=1)
    report.add("textbook Laplace, five outputs, share right", textbook.success, "", at_least=0.98)
    # Its own time, whatever else the machine does.
    watched = {"candidates": (0, 10), "epsilon": 1, "clock": time.process_time_ns}
    looping = sf.attacks.timing(sf.attacks.looping_geometric(10.0), **watched)
    report.add("a sampler that loops, by the clock", looping.success, "", at_least=0.8)
    steady = sf.attacks.timing(lambda value: sf.noise.geometric(value, sensitivity=10, epsilon=1), **watched)
    report.add("sfumato.noise, by the clock", steady.success, "", at_most=bound + 0.03)
    return report
