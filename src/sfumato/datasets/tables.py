"""The counts that make the town look like a census, and how they become weights to draw from.

`town.json` holds thirteen tables of whole numbers, one for each variable: a count for every combination of the
variable with its parents in SHAPE. They are a differentially private release of the 32,561 people in the training part
of the 1994 census extract known as Adult:

- the shape and the bands were written by hand and tried on the test part of the extract, that is on other people,
  before the tables were counted, once;
- a person stands in one cell of each table, so adding or removing one changes the thirteen tables by 13 in all;
- each cell got its own discrete Laplace noise of scale 13, exact and drawn from the operating system;
- hence the release as a whole is differentially private with epsilon 1 for one person, added or removed, and everything
  made from it, every town and every row, is post-processing at no further cost.

The integers are stored as released: some are negative. The number of people is public. The promise is to the people
counted; the test part, which helped to choose the shape and the weights of countries inside a group, has none.
"""

import json
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from sfumato.datasets import possible
from sfumato.datasets.variables import SIZES

Counts = NDArray[np.int64]

PEOPLE = 32_561
SHAPE: dict[str, tuple[str, ...]] = {
    "sex": (),
    "relationship": ("sex",),
    "marital_status": ("relationship",),
    "age": ("relationship", "marital_status"),
    "income_class": ("relationship", "age"),
    "occupation": ("sex", "income_class"),
    "workclass": ("occupation",),
    "education": ("occupation", "income_class"),
    "hours_per_week": ("sex", "age"),
    "capital_gain": ("income_class",),
    "capital_loss": ("income_class",),
    "native_country": ("education",),
    "race": ("native_country",),
}


def released() -> dict[str, Counts]:
    """The thirteen tables of `town.json`; the last axis is the variable, the others are its parents."""
    stored = json.loads(files("sfumato.datasets").joinpath("town.json").read_text(encoding="utf-8"))
    return {
        child: np.array(stored["tables"][child], dtype=np.int64).reshape(
            [SIZES[parent] for parent in parents] + [SIZES[child]]
        )
        for child, parents in SHAPE.items()
    }


def weights(tables: dict[str, Counts]) -> dict[str, tuple[tuple[str, ...], Counts]]:
    """For each variable, in drawing order: the variables it is drawn from, and the weight of each of its values.

    Claim: a combination that `possible` rules out has weight 0; every other row of weights has a positive sum.
    """
    ruled = {
        "relationship": possible.relationship_given_sex(),
        "marital_status": possible.marital_status_given_relationship(),
        "age": possible.age_given_relationship_and_marital_status(),
        "income_class": possible.income_class_given_age(),
        "capital_gain": possible.capital_gain_given_income_class(),
    }
    ready = {
        child: _filled(_project(table * ruled.get(child, True)), ruled.get(child)) for child, table in tables.items()
    }
    drawn_from = {child: (parents, ready[child]) for child, parents in SHAPE.items()}
    # These rules speak of a variable that is no parent in SHAPE: it becomes one here, at no cost.
    by_age = possible.occupation_given_age()
    drawn_from["occupation"] = (
        ("sex", "income_class", "age"),
        _filled(ready["occupation"][:, :, None, :] * by_age, by_age),
    )
    schooling = possible.education_given_occupation_income_class_and_age()
    drawn_from["education"] = (
        ("occupation", "income_class", "age"),
        _filled(ready["education"][:, :, None, :] * schooling, schooling),
    )
    by_work = possible.workclass_given_occupation_and_income_class()
    drawn_from["workclass"] = (
        ("occupation", "income_class"),
        _filled(_project(tables["workclass"])[:, None, :] * by_work, by_work),
    )
    return drawn_from


def _project(counts: Counts) -> Counts:
    """The noisy counts lowered by one common number and cut at 0, so that they add up to the people of the town.

    Cutting alone would lift every empty cell by half the noise: a crowd of people who do not exist.
    """
    descending = np.sort(counts, axis=None)[::-1]
    lowered = (np.cumsum(descending) - PEOPLE) / np.arange(1, descending.size + 1)
    shift = max(0, int(np.ceil(lowered[descending > lowered][-1])))
    return np.maximum(counts - shift, 0)


def _filled(counts: Counts, mask: possible.Mask | None) -> Counts:
    """Rows emptied by noise and rules get the overall frequencies, or else equal weights, of what is possible."""
    allowed = np.broadcast_to(True if mask is None else mask, counts.shape)
    overall = counts.reshape(-1, counts.shape[-1]).sum(axis=0) * allowed
    fallback = np.where(overall.sum(axis=-1, keepdims=True) > 0, overall, allowed)
    return np.where(counts.sum(axis=-1, keepdims=True) > 0, counts, fallback).astype(np.int64)
