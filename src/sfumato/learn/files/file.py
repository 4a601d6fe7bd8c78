"""The file of a model: JSON of a closed shape, whole numbers, and no code. Whatever else a file holds is refused."""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, fields
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

from sfumato.errors import file_missing
from sfumato.learn.bins import Feature
from sfumato.learn.files.kinds import KIND, LEARNERS, Around, fitted_of
from sfumato.learn.files.shapes import cells, items, number, parts, text, value, whole
from sfumato.learn.model import Model, Paid, Parameter, Stage
from sfumato.learn.wordings import (
    model_newer,
    model_not_written,
    model_too_large,
    model_unreadable,
    model_unwritable,
    model_would_be_too_large,
)
from sfumato.schema.columns import CategoryValue

FORMAT = 1
MOST_MEGABYTES = 10
AROUND = 10**5  # bytes that its schedule, its price and what noise rules take
# Prices as they are written: an exponent of nine digits would be worked out for hours.
PRICE = re.compile(r"[0-9]{1,300}(/[0-9]{1,300}|(\.[0-9]{1,30})?(e-[0-9]{1,2})?)")
HOLDOUT = re.compile(r"[0-9]{1,4}/[0-9]{1,4}")


def as_json(model: Model) -> str:
    said = {
        "sfumato": FORMAT,
        "learner": model.learner,
        "version": model.version,
        "target": model.target,
        "classes": list(model.classes),
        "features": _described(model.features),
        "parameters": dict(model.parameters),
        "model": {"kind": KIND[type(model.fitted)], **asdict(model.fitted)},
        "privacy": {**asdict(model.paid), "relation": "add/remove"},
        "schedule": [asdict(stage) for stage in model.schedule],
        "notes": list(model.notes),
    }
    return "{\n" + ",\n".join(f' "{name}": {_compact(part)}' for name, part in said.items()) + "\n}\n"


def _compact(said: Any) -> str:
    """On one line: with each number on a line of its own, half of a file would be spaces."""
    return json.dumps(said, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def _described(features: Sequence[Feature]) -> list[dict[str, Any]]:
    return [{"name": feature.name, "cells": asdict(feature.cells)} for feature in features]


def demand_room(classes: Sequence[CategoryValue], features: Sequence[Feature], numbers: int) -> None:
    """Refuse, before it is paid, what no file would hold: with numbers of at most so many bytes. Notes may name all
    columns once more.
    """
    declared = len(_compact(list(classes))) + 2 * len(_compact(_described(features)))
    if numbers + declared + AROUND > MOST_MEGABYTES * 10**6:
        raise model_would_be_too_large(MOST_MEGABYTES)


def written(model: Model, path: Path) -> None:
    said = as_json(model)
    if len(said) > MOST_MEGABYTES * 10**6:
        raise model_not_written(MOST_MEGABYTES)
    try:
        path.write_text(said, encoding="utf-8", newline="\n")
    except OSError as error:
        raise model_unwritable(str(path), str(error.strerror)) from None


def read(path: Path) -> Model:
    """A model as `save` wrote it.

    Claim: nothing in the file is run, and a value of it that is not of its place's kind is refused; whatever it holds,
    reading it takes a time that grows with its length, and so does whatever is done with the model, or it is refused.
    """
    if not path.is_file():
        raise file_missing(str(path))
    with path.open("rb") as file:
        content = file.read(MOST_MEGABYTES * 10**6 + 1)
    if len(content) > MOST_MEGABYTES * 10**6:
        raise model_too_large(str(path), MOST_MEGABYTES)
    try:
        said = json.loads(content, parse_constant=_refuse, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise model_unreadable(str(path)) from None
    if isinstance(said, dict) and type(said.get("sfumato")) is int and said["sfumato"] > FORMAT:
        raise model_newer(str(path))
    try:
        return _model(said)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError):
        raise model_unreadable(str(path)) from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of two values under one name, readers disagree which counts."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name twice")
    return found


def _model(said: Any) -> Model:
    given = parts(
        said, "sfumato", "learner", "version", "target", "classes", "features", "parameters", "model", "privacy",
        "schedule", "notes",
    )  # fmt: skip
    if given["sfumato"] != FORMAT or given["learner"] not in LEARNERS:
        raise ValueError
    around = Around(text(given["target"]), items(given["classes"], value), items(given["features"], _feature))
    holdout = given["parameters"].get("holdout")
    if holdout is not None and not (HOLDOUT.fullmatch(text(holdout)) and 0 < Fraction(holdout) < 1):
        raise ValueError
    return Model(
        given["learner"],
        whole(given["version"]),
        around.target,
        around.classes,
        around.features,
        {text(name): _parameter(each) for name, each in given["parameters"].items()},
        fitted_of(given["model"], given["learner"], around),
        _paid(given["privacy"]),
        items(given["schedule"], _stage),
        items(given["notes"], text),
    )


def _parameter(said: Any) -> Parameter:
    if said is not None and not isinstance(said, str | int | float | bool):
        raise TypeError
    return said if said is None or isinstance(said, str | bool) else whole(said) if type(said) is int else number(said)


def _feature(said: Any) -> Feature:
    given = parts(said, "name", "cells")
    return Feature(text(given["name"]), cells(given["cells"]))


def _paid(said: Any) -> Paid:
    given = parts(said, "relation", *(field.name for field in fields(Paid)))
    if given["relation"] != "add/remove":
        raise ValueError
    receipt = whole(given["receipt"])
    told = {name: text(given[name]) for name in given if name not in ("relation", "receipt")}
    epsilon, price, delta = (_price(told[name]) for name in ("epsilon", "price", "delta"))
    if not (epsilon > 0 and price > 0 and delta < 1):
        raise ValueError
    return Paid(**told, receipt=receipt)


def _price(said: str) -> Fraction:
    if not PRICE.fullmatch(said):
        raise ValueError
    return Fraction(said)


def _stage(said: Any) -> Stage:
    given = parts(said, *(field.name for field in fields(Stage)))
    noise = None if given["noise"] is None else number(given["noise"])
    texts = {name: text(given[name]) for name in ("what", "rule", "mechanism")}
    return Stage(
        **texts, times=whole(given["times"]), share=number(given["share"]), noise=noise, cells=whole(given["cells"])
    )
