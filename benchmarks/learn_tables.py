"""Tables that classifiers are measured on, with rows that nobody fits on."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import sfumato as sf
from benchmarks.real.tables import real
from tests.tables import adult


@dataclass(frozen=True)
class Data:
    """A table, its declarations, and rows that nobody fits on."""

    name: str
    train: pd.DataFrame
    test: pd.DataFrame
    columns: dict[str, Any]
    target: str

    @property
    def yes(self) -> Any:
        return self.columns[self.target].values[1]

    @property
    def truth(self) -> np.ndarray:
        return (self.test[self.target] == self.yes).to_numpy()


def census() -> Data:
    """Adult's own split, twelve columns; bounds and values as its code book has them."""
    parts = [pd.read_csv(adult() / f"{name}.csv", keep_default_na=False) for name in ("train", "test")]
    bounds = {
        "age": (17, 90), "education_num": (1, 16), "capital_gain": (0, 99_999), "capital_loss": (0, 4356),
        "hours_per_week": (1, 99),
    }  # fmt: skip
    listed = ("workclass", "marital_status", "occupation", "relationship", "race", "sex", "native_country", "income")
    columns: dict[str, Any] = {name: sf.Int(*ends) for name, ends in bounds.items()}
    columns |= {name: sf.Category(sorted(set(parts[0][name]) | set(parts[1][name]))) for name in listed}
    return Data("Adult", parts[0], parts[1], columns, "income")


def frozen() -> list[Data]:
    """Tables that informed no constant, each split in four parts of five and one."""
    chain = pd.read_parquet(real("flchain"))
    chain["death"] = chain["death"].map({0: "alive", 1: "dead"})
    panel = pd.read_parquet(real("rwm")).sample(frac=1, random_state=1).drop_duplicates("id")  # a row of everybody
    panel["outwork"] = panel["outwork"].map({0: "works", 1: "does not"})
    return [
        _split("flchain (death)", chain, "death", {
            "age": sf.Int(50, 110), "sex": sf.Category(["F", "M"]), "sample_yr": sf.Int(1995, 2003),
            "kappa": sf.Float(0, 25), "lambda": sf.Float(0, 30), "flc_grp": sf.Int(1, 10),
            "creatinine": sf.Float(0, 12), "mgus": sf.Int(0, 1), "death": sf.Category(["alive", "dead"]),
        }),
        _split("rwm5yr (outwork)", panel, "outwork", {
            "docvis": sf.Int(0, 150), "hospvis": sf.Int(0, 60), "edlevel": sf.Int(1, 4), "age": sf.Int(20, 70),
            "hhninc": sf.Float(0, 30), "female": sf.Int(0, 1), "married": sf.Int(0, 1), "kids": sf.Int(0, 1),
            "self": sf.Int(0, 1), "outwork": sf.Category(["works", "does not"]),
        }),
    ]  # fmt: skip


def _split(name: str, frame: pd.DataFrame, target: str, columns: dict[str, Any]) -> Data:
    order = np.random.default_rng(1).permutation(len(frame))
    cut = len(frame) // 5
    kept = frame[list(columns)]
    return Data(name, kept.iloc[order[cut:]], kept.iloc[order[:cut]], columns, target)


def titanic_folds(folds: int = 5) -> list[Data]:
    frame = pd.read_parquet(real("titanic"))
    columns = {
        "sex": sf.Category(["female", "male"]), "age": sf.Float(0, 100), "survived": sf.Category(["no", "yes"]),
        "passengerClass": sf.Category(["1st", "2nd", "3rd"]),
    }  # fmt: skip
    part = np.random.default_rng(2).permutation(len(frame)) % folds
    return [Data("Titanic", frame[part != one], frame[part == one], columns, "survived") for one in range(folds)]


def scored(shares: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """AUC, ties counting half, and accuracy."""
    order = pd.Series(shares).rank().to_numpy()
    yes, no = truth.sum(), (~truth).sum()
    auc = (order[truth].sum() - yes * (yes + 1) / 2) / (yes * no)
    return {"AUC": float(auc), "accuracy": float(np.mean((shares > 0.5) == truth))}
