"""A few hundred persons with one secret bit each, bare and behind a session."""

from pathlib import Path

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.simulate import Simulator

PEOPLE = 200


def secrets(people: int = PEOPLE, seed: int = 0) -> np.ndarray:
    """Fair coins: nothing known about anybody says anything about the secret."""
    return Simulator(seed).stream("secrets").integers(0, 1, people)


def persons(people: int = PEOPLE, seed: int = 0) -> pa.Table:
    return pa.table({"pid": np.arange(people), "district": np.arange(people) % 2, "secret": secrets(people, seed)})


def behind(table: pa.Table, folder: Path, *, epsilon: float, name: str = "ledger") -> sf.Session:
    return sf.protect(
        table,
        unit=sf.Row(),
        columns={"pid": sf.Int(0, 10**6), "district": sf.Category([0, 1]), "secret": sf.Int(0, 1)},
        budget=sf.Budget(epsilon=epsilon),
        ledger=folder / f"{name}.ledger",
    )


def conditions(people: int = PEOPLE) -> list[str]:
    return [f"pid = {person} AND secret = 1" for person in range(people)]
