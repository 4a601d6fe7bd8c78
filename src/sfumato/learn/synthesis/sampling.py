"""Synthetic rows as tables and files: values of the declared kinds, drawn inside their cells, and marked as made up."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from sfumato.learn.bins import Codes, Feature, Line, Listed
from sfumato.learn.model import Model
from sfumato.learn.synthesis.likeness import Ends, Likeness, coins
from sfumato.learn.wordings import model_unwritable, rows_of_no_kind
from sfumato.schema.numbers import whole
from sfumato.simulate import Simulator, Stream

MARK = "sfumato.synthetic"
MOST_ROWS = 10**8
MOST_USUALLY, MOST_VALUES = 10**7, 2 * 10**8  # rows, and values of them, where nobody says how many
WHOLE_TYPES = (pa.int64(), pa.uint64(), pa.decimal128(20))  # the first that holds all listed values
ENDINGS = (".parquet", ".csv")
NOBODY = "Synthetic: drawn by Sfumato from noisy tables of pairs of columns. No row is of a person."


def sampled(model: Model, n: int | None, seed: int | None) -> pa.Table:
    """So many rows, by default as many as there are by noisy count; the model's own coins without a seed."""
    fitted = likeness_of(model)
    check_drawn(n, seed)
    count = usual_rows(fitted.rows, len(model.features)) if n is None else n
    simulator = coins(model.paid.envelope) if seed is None else Simulator(seed)
    codes = fitted.drawn(model.paid.envelope, count, simulator)
    columns = {
        feature.name: _values(feature, ends, codes[:, place], simulator.stream(f"values of column {place}"))
        for place, (feature, ends) in enumerate(zip(model.features, fitted.ends, strict=True))
    }
    return pa.table(columns).replace_schema_metadata({MARK: json.dumps(mark(model, seed))})


def usual_rows(rows: int, columns: int) -> int:
    """As many as there are, which a file may say of any number."""
    return min(rows, MOST_USUALLY, MOST_VALUES // columns)


def check_drawn(n: int | None, seed: int | None) -> None:
    if n is not None:
        whole(n, "n", least=1, most=MOST_ROWS)
    if seed is not None:
        whole(seed, "seed", least=0)


def likeness_of(model: Model) -> Likeness:
    if not isinstance(model.fitted, Likeness):
        raise TypeError("no rows are drawn from it")
    return model.fitted


def mark(model: Model, seed: int | None) -> dict[str, Any]:
    """What a file of synthetic rows says of itself."""
    paid = model.paid
    return {
        "synthetic": True,
        "note": NOBODY,
        "table": paid.table,
        "unit": paid.unit,
        "epsilon": paid.epsilon,
        "delta": paid.delta,
        "relation": "add/remove",
        "receipt": paid.receipt,
        "when": paid.when,
        "seed": seed,
    }


def written_rows(model: Model, path: Path, n: int | None, seed: int | None) -> None:
    """A Parquet file holds the mark itself; beside a CSV file it stands in one of its own."""
    check_ending(path)
    table = sampled(model, n, seed)
    try:
        if path.suffix.lower() == ".csv":
            said = {"@context": "http://www.w3.org/ns/csvw", "url": path.name, MARK: mark(model, seed)}
            beside(path).write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")
            pc.write_csv(table, path)
        else:
            pq.write_table(table, path)
    except OSError as error:
        raise model_unwritable(str(path), error.strerror or "the disk refuses it") from None


def beside(path: Path) -> Path:
    """The file that says what a CSV file is, named as the W3C names it (CSV on the Web)."""
    return path.with_name(f"{path.name}-metadata.json")


def check_ending(path: Path) -> None:
    if path.suffix.lower() not in ENDINGS:
        raise rows_of_no_kind(path.name)


# ---- values inside of cells


def _values(feature: Feature, ends: Ends | None, cells: Codes, stream: Stream) -> Any:
    """The values of cells: listed, or drawn between the ends of a cell, each as likely as another; else NULL."""
    missing = cells == feature.size - 1
    match feature.cells:
        case Listed(values=values):
            listed: list[Any] = [*values, None]
            if not any(type(value) is int for value in values):
                return pa.array(listed).take(pa.array(cells))
            made = next(found for kind in WHOLE_TYPES if (found := _as(kind, listed)) is not None)
            return made.take(pa.array(cells))
        case Line(cuts=cuts, kind="real") if ends is not None:
            inside = _between(np.array([ends[0], *cuts]), np.array([*cuts, ends[1]]), cells, stream)
            return pa.array(np.clip(inside, *ends), mask=missing)
        case Line(cuts=cuts, kind=kind) if ends is not None:
            first, last = (int(end) for end in ends)
            begins = np.clip(np.array([first, *map(int, cuts)], dtype=np.int64), first, last)
            stops = np.clip(np.array([*(int(cut) - 1 for cut in cuts), last], dtype=np.int64), begins, last)
            found = pa.array(_among(begins, stops, cells, stream), mask=missing)
            return found if kind == "whole" else found.cast(pa.int32()).cast(pa.date32())
        case _:
            raise TypeError("no rows are drawn from it")


def _as(kind: Any, listed: list[Any]) -> Any:
    """Whole numbers of a type, or None if one of them is too large for it."""
    try:
        return pa.array(listed, kind)
    except (OverflowError, pa.ArrowInvalid):
        return None


def _between(begins: Any, stops: Any, cells: Codes, stream: Stream) -> Any:
    """A number of the cell of each row, below where the next begins."""
    own = np.minimum(cells, len(begins) - 1)
    inside = begins[own] + stream.uniform(len(cells)) * (stops[own] - begins[own])
    return np.where(inside >= stops[own], np.maximum(np.nextafter(stops[own], -np.inf), begins[own]), inside)


def _among(begins: Codes, stops: Codes, cells: Codes, stream: Stream) -> Codes:
    """A whole number of the cell of each row, from where it begins to where it stops."""
    own = np.minimum(cells, len(begins) - 1)
    steps = np.floor(stream.uniform(len(cells)) * (stops[own] - begins[own] + 1.0))
    return np.minimum(begins[own] + steps.astype(np.int64), stops[own])
