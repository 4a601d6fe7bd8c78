"""The file of a model: JSON of a closed shape, whole numbers, and no code. Whatever else a file holds is refused."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from datetime import date
from fractions import Fraction
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn, TypeVar, get_args

from sfumato.errors import file_missing
from sfumato.learn.bins import EPOCH, Cells, Feature, Kind, Line, Listed
from sfumato.learn.model import SHARES, Branches, Fitted, Model, Node, Paid, Parameter, Scores, Stage
from sfumato.learn.wordings import model_newer, model_too_large, model_unreadable, model_unwritable
from sfumato.plan.expressions import MOST_PICKED

Kept = TypeVar("Kept")

FORMAT = 1
MOST_MEGABYTES = 10
MOST_NUMBER = 1 << 62
MOST_LEVELS = 32  # of a tree
MOST_NODES = 1 << 12  # of a tree
MOST_CELLS = MOST_PICKED + 1  # of a column: what a plan can pick, and what is missing
MOST_WEIGHT = 1 << 40
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
        "features": [{"name": feature.name, "cells": _cells(feature.cells)} for feature in model.features],
        "parameters": dict(model.parameters),
        "model": {"kind": KIND[type(model.fitted)], **asdict(model.fitted)},
        "privacy": {**asdict(model.paid), "relation": "add/remove"},
        "schedule": [asdict(stage) for stage in model.schedule],
        "notes": list(model.notes),
    }
    return json.dumps(said, indent=1, ensure_ascii=True, allow_nan=False) + "\n"


def written(model: Model, path: Path) -> None:
    try:
        path.write_text(as_json(model), encoding="utf-8", newline="\n")
    except OSError as error:
        raise model_unwritable(str(path), str(error.strerror)) from None


def read(path: Path) -> Model:
    """A model as `save` wrote it.

    Claim: nothing in the file is run, and a value of it that is not of its place's kind is refused; whatever it holds,
    reading it takes a time that grows with its length, and so does whatever is done with the model.
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


# ---- shapes: each takes what JSON holds, and gives a value or raises ValueError


def _model(said: Any) -> Model:
    parts = _parts(
        said, "sfumato", "learner", "version", "target", "classes", "features", "parameters", "model", "privacy",
        "schedule", "notes",
    )  # fmt: skip
    if parts["sfumato"] != FORMAT or parts["learner"] not in LEARNERS:
        raise ValueError
    features = _list(parts["features"], _feature)
    classes = _list(parts["classes"], _class)
    kind, fitted = _fitted(parts["model"])
    if LEARNERS[parts["learner"]] != kind or len(set(classes)) < 2 or len(set(map(type, classes))) > 1:
        raise ValueError
    _check(fitted, features, len(classes))
    holdout = parts["parameters"].get("holdout")
    if holdout is not None and not (HOLDOUT.fullmatch(_text(holdout)) and 0 < Fraction(holdout) < 1):
        raise ValueError
    return Model(
        parts["learner"],
        _whole(parts["version"]),
        _text(parts["target"]),
        classes,
        features,
        {_text(name): _parameter(value) for name, value in parts["parameters"].items()},
        fitted,
        _paid(parts["privacy"]),
        _list(parts["schedule"], _stage),
        _list(parts["notes"], _text),
    )


def _parts(said: Any, *names: str) -> dict[str, Any]:
    if not isinstance(said, dict) or set(said) != set(names):
        raise ValueError
    return said


def _list(said: Any, each: Callable[[Any], Kept]) -> tuple[Kept, ...]:
    if not isinstance(said, list):
        raise TypeError
    return tuple(each(one) for one in said)


def _text(said: Any) -> str:
    if not isinstance(said, str):
        raise TypeError
    return said


def _whole(said: Any) -> int:
    if type(said) is not int or abs(said) > MOST_NUMBER:
        raise ValueError
    return said


def _number(said: Any) -> float:
    if type(said) not in (int, float) or not isfinite(said):
        raise ValueError
    return float(said)


def _class(said: Any) -> str | int | bool:
    if not isinstance(said, str | int | bool):
        raise TypeError
    return said


def _parameter(said: Any) -> Parameter:
    if said is not None and not isinstance(said, str | int | float | bool):
        raise TypeError
    return (
        said if said is None or isinstance(said, str | bool) else _whole(said) if type(said) is int else _number(said)
    )


def _cells(cells: Cells) -> dict[str, Any]:
    return (
        {"values": list(cells.values)} if isinstance(cells, Listed) else {"cuts": list(cells.cuts), "kind": cells.kind}
    )


def _feature(said: Any) -> Feature:
    parts = _parts(said, "name", "cells")
    cells = parts["cells"]
    if set(cells) == {"values"}:
        values = _list(cells["values"], _class)
        if not values or len(set(values)) < len(values) or len(set(map(type, values))) > 1:
            raise ValueError
        return Feature(_text(parts["name"]), Listed(values))
    line = _parts(cells, "cuts", "kind")
    cuts = _list(line["cuts"], _number)
    if line["kind"] not in get_args(Kind) or any(one >= other for one, other in pairwise(cuts)):
        raise ValueError
    if line["kind"] == "day" and any(not 1 <= cut + EPOCH.toordinal() <= date.max.toordinal() for cut in cuts):
        raise ValueError
    return Feature(_text(parts["name"]), Line(cuts, line["kind"]))


def _fitted(said: Any) -> tuple[str, Fitted]:
    match said.get("kind"):
        case "scores":
            parts = _parts(said, "kind", *(field.name for field in fields(Scores)))
            return "scores", Scores(
                _list(parts["intercept"], _whole),
                _list(parts["weights"], _table),
                _list(parts["errors"], _table),
                _list(parts["rows"], _row),
                _list(parts["noise"], _whole),
            )
        case "trees":
            parts = _parts(said, "kind", "trees")
            return "trees", Branches(_list(parts["trees"], lambda nodes: _list(nodes, _node)))
        case _:
            raise ValueError


def _node(said: Any) -> Node:
    parts = _parts(said, *(field.name for field in fields(Node)))
    lists = {name: _row(parts[name]) for name in ("right", "children", "counts", "shares")}
    return Node(column=_whole(parts["column"]), noise=_whole(parts["noise"]), **lists)


def _row(said: Any) -> tuple[int, ...]:
    return _list(said, _whole)


def _table(said: Any) -> tuple[tuple[int, ...], ...]:
    return _list(said, _row)


def _check(fitted: Fitted, features: tuple[Feature, ...], classes: int) -> None:
    sizes = [feature.size for feature in features]
    shaped = _adds_up(fitted, sizes, classes) if isinstance(fitted, Scores) else _branches(fitted, sizes, classes)
    if not shaped or not sizes or max(sizes) > MOST_CELLS:
        raise ValueError


def _adds_up(fitted: Scores, sizes: list[int], classes: int) -> bool:
    """Whether there is a number for every cell and class."""
    tables = (fitted.weights, fitted.errors)
    return (
        len(fitted.intercept) == classes - 1
        and len(fitted.noise) == len(sizes)
        and all([len(column) for column in table] == sizes for table in (*tables, fitted.rows))
        and all(len(row) == classes - 1 for table in tables for column in table for row in column)
        and all(abs(one) <= MOST_WEIGHT for table in tables for column in table for row in column for one in row)
        and all(abs(one) <= MOST_WEIGHT for one in fitted.intercept)
    )


def _branches(fitted: Branches, sizes: list[int], classes: int) -> bool:
    """Whether every node has its classes, asks about cells that are there, and comes after its parent, once."""
    return bool(fitted.trees) and all(nodes and _is_tree(nodes, sizes, classes) for nodes in fitted.trees)


def _is_tree(nodes: tuple[Node, ...], sizes: list[int], classes: int) -> bool:
    children = [child for node in nodes for child in node.children]
    if len(nodes) > MOST_NODES or sorted(children) != list(range(1, len(nodes))):
        return False
    levels = {0: 0}
    for number, node in enumerate(nodes):
        levels |= dict.fromkeys(
            node.children, levels.get(number, MOST_LEVELS) + 1
        )  # who comes before its parent has none
    return (
        max(levels.values()) <= MOST_LEVELS
        and all(len(node.counts) == len(node.shares) == classes for node in nodes)
        and all(min(node.shares) >= 0 and sum(node.shares) == SHARES for node in nodes)
        and all(_asks(node, sizes) for node in nodes)
    )


def _asks(node: Node, sizes: list[int]) -> bool:
    if not node.children:
        return node.column == -1 and not node.right
    known = len(node.children) == 2 and 0 <= node.column < len(sizes) and len(node.right) > 0
    rising = all(one < other for one, other in pairwise(node.right))
    return known and rising and node.right[0] >= 0 and node.right[-1] < sizes[node.column]


def _paid(said: Any) -> Paid:
    parts = _parts(said, "relation", *(field.name for field in fields(Paid)))
    if parts["relation"] != "add/remove":
        raise ValueError
    receipt = _whole(parts["receipt"])
    told = {name: _text(parts[name]) for name in parts if name not in ("relation", "receipt")}
    epsilon, price, delta = (_price(told[name]) for name in ("epsilon", "price", "delta"))
    if not (epsilon > 0 and price > 0 and delta < 1):
        raise ValueError
    return Paid(**told, receipt=receipt)


def _price(text: str) -> Fraction:
    if not PRICE.fullmatch(text):
        raise ValueError
    return Fraction(text)


def _stage(said: Any) -> Stage:
    parts = _parts(said, *(field.name for field in fields(Stage)))
    noise = None if parts["noise"] is None else _number(parts["noise"])
    texts = {name: _text(parts[name]) for name in ("what", "rule", "mechanism")}
    return Stage(
        **texts, times=_whole(parts["times"]), share=_number(parts["share"]), noise=noise, cells=_whole(parts["cells"])
    )


KIND: Mapping[type, str] = {Scores: "scores", Branches: "trees"}
LEARNERS = {"bayes": "scores", "additive": "scores", "tree": "trees", "forest": "trees"}
