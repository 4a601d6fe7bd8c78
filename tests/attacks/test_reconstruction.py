"""Reconstruction from counts of random halves and from published tables."""

from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.attacks import marginals, reconstruction, session_desk
from sfumato.errors import UsageError
from sfumato.simulate import Simulator
from tests.attacks.town import behind, persons, secrets

SMALL = 64


def desk(bits: np.ndarray, deviation: float = 0.0, step: int = 1, seed: int = 1):
    stream = Simulator(seed).stream("noise")

    def ask(positions: np.ndarray) -> float:
        answer = bits[positions].sum() + deviation * stream.normal(1)[0]
        return float(step * round(answer / step) if step > 1 else answer)

    return ask


def test_exact_counts_give_away_everybody() -> None:
    bits = secrets(100)
    result = reconstruction(desk(bits), 100, truth=bits)
    assert (result.success, result.recovered) == (1, bits.tolist())
    assert result.chance < 0.65
    assert result.measures["residual"] < 1e-6


@pytest.mark.parametrize(("deviation", "step"), [(4.0, 1), (0.0, 5)])
def test_small_noise_and_rounding_protect_nobody(deviation: float, step: int) -> None:
    """The figure to reach: at least 95 % of 256 bits from 1024 counts with deviation 4."""
    bits = secrets(256)
    shares = [
        reconstruction(desk(bits, deviation, step, seed), 256, questions=1024, truth=bits, seed=seed).success
        for seed in range(3)
    ]
    assert np.mean(shares) >= 0.95


def test_a_linear_program_does_it_too() -> None:
    bits = secrets(SMALL)
    result = reconstruction(desk(bits, 1.0), SMALL, truth=bits, method="linear program")
    assert result.success >= 0.97


def test_the_budget_of_a_session_leaves_chance(tmp_path: Path) -> None:
    """Total epsilon 1 over 256 counts: what is left is a coin, far below what the promise allows."""
    table = persons(SMALL)
    bits = table["secret"].to_numpy()
    with behind(table, tmp_path, epsilon=1) as session:
        ask = session_desk(session, spend=1 / 256)
        result = reconstruction(
            lambda chosen: ask(f"secret = 1 AND pid IN ({', '.join(map(str, chosen))})"), SMALL, truth=bits, epsilon=1
        )
    assert result.measures["answers"] == 256
    assert result.success < result.bound < 0.86


def test_noise_a_thousand_times_too_small_breaks_the_promise() -> None:
    bits = secrets(SMALL)
    result = reconstruction(desk(bits, 0.3), SMALL, truth=bits, epsilon=1)
    assert result.success > 0.97 > result.bound


def test_a_budget_that_ends_early_leaves_what_was_heard(tmp_path: Path) -> None:
    table = persons(SMALL)
    with behind(table, tmp_path, epsilon=1) as session:
        ask = session_desk(session, spend=0.1)
        result = reconstruction(
            lambda chosen: ask(f"secret = 1 AND pid IN ({', '.join(map(str, chosen))})"),
            SMALL,
            truth=table["secret"].to_numpy(),
            epsilon=1,
        )
        nothing = reconstruction(lambda chosen: ask("secret = 1"), SMALL, truth=table["secret"].to_numpy())
    assert result.measures["answers"] == 10
    assert nothing.measures["answers"] == 0
    assert nothing.recovered == [0.0] * SMALL


def test_reconstruction_says_what_is_wrong() -> None:
    with pytest.raises(UsageError, match=r'no method "lest squares".* Did you mean "least squares"'):
        reconstruction(lambda chosen: 0.0, 4, method="lest squares")
    with pytest.raises(UsageError, match="people"):
        reconstruction(lambda chosen: 0.0, 0)


# ---- published tables


def census(people: int = 400, seed: int = 0) -> pa.Table:
    """Facts that make many persons unique, and a secret that has nothing to do with them."""
    draw = Simulator(seed)
    return pa.table(
        {
            "age": draw.stream("age").integers(20, 59, people),
            "block": draw.stream("block").integers(0, 19, people),
            "sex": draw.stream("sex").integers(0, 1, people),
            "income": pa.array(["low", "high"]).take(draw.stream("income").integers(0, 1, people)),
        }
    )


def counted(table: pa.Table, keys: list[str]) -> pa.Table:
    return table.group_by([*keys, "income"]).aggregate([([], "count_all")]).rename_columns([*keys, "income", "n"])


TABLES = [["age", "block"], ["age", "sex"], ["block", "sex"]]


def test_published_tables_together_give_secrets_away() -> None:
    town = census()
    result = marginals([counted(town, keys) for keys in TABLES], town, "income", truth=town["income"].to_pylist())
    assert result.success > 0.85
    assert result.chance < 0.6
    assert result.measures["sure"] > 0.5
    assert set(result.recovered) == {"low", "high"}


def test_one_coarse_table_gives_away_little() -> None:
    town = census()
    result = marginals([counted(town, ["sex"])], town, "income", truth=town["income"].to_pylist())
    assert result.success < 0.65


def test_private_tables_stay_within_the_promise() -> None:
    town = census()
    facts = {"age": range(20, 60), "block": range(20), "sex": range(2), "income": ("low", "high")}
    noisy = []
    for keys in TABLES:
        names = [*keys, "income"]
        # Every cell of the public grid gets noise, the empty ones too; a person is in one cell a table.
        found = Counter(zip(*(town[name].to_pylist() for name in names), strict=True))
        cells = list(product(*(facts[name] for name in names)))
        private = sf.noise.geometric([found[cell] for cell in cells], sensitivity=1, epsilon=1 / 3)
        columns = dict(zip(names, zip(*cells, strict=True), strict=True))
        noisy.append(pa.table({name: list(column) for name, column in columns.items()} | {"n": private}))
    result = marginals(noisy, town, "income", truth=town["income"].to_pylist(), epsilon=1)
    assert result.success < result.bound
    assert result.bound < 0.85


def test_marginals_say_what_is_wrong() -> None:
    town = census(10)
    with pytest.raises(UsageError, match="no published table"):
        marginals([], town, "income")
    with pytest.raises(UsageError, match='no column "n"'):
        marginals([town], town, "income")
    with pytest.raises(UsageError, match="no column of known facts"):
        marginals([pa.table({"income": ["low"], "n": [3]})], town, "income")
    with pytest.raises(UsageError, match="truth has 1"):
        marginals([counted(town, ["sex"])], town, "income", truth=["low"])
