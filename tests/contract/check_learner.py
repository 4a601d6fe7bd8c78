"""One contract for every learner: whoever is handed over is fitted on small tables and answers all checks.

Each check gives what it found wrong, so that a wrong twin can be told from a right learner by the same check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato import door
from sfumato.errors import SfumatoError
from sfumato.kernel.certify import Certified
from sfumato.kernel.gate import Found, Release, ReleasedRows
from sfumato.kernel.mechanisms.protocol import CellCounts, CellSums
from sfumato.schema.unit import UpTo
from tests.learn.people import COLUMNS, learner, opened, people

Check = Callable[[Any, Path], list[str]]
UNITS = {"row": sf.Row(), "person": sf.Person("id", max_rows=2, max_groups=2), "up to": UpTo(2)}
LARGE = {sf.learn.Forest: {"expected_rows": 10**8}}  # a forest refuses what is too little to divide
DELTAS = {"epsilon": 0, "rho": 1e-6}
MOST_LUCKY = 3  # tables in which noise alone may look like rows


def shares_add_up(kind: Any, folder: Path) -> list[str]:
    """All that is drawn costs the price, to the last digit but those that roots are rounded down to."""
    wrong = []
    for unit in UNITS:
        for currency, delta in DELTAS.items():
            with opened(fresh(folder), unit=UNITS[unit], delta=delta) as session:
                price = session.price(1).amount
                learner(kind).fit(session)
                drawn = [entry for entry in session._ledger.records.chain.entries() if entry.kind == "draw"]
                used = Fraction(drawn[-1].content["used"])
                if not 0 <= price - used <= price * 2**-50:
                    wrong.append(f"{unit}, {currency}: {float(used / price)} of the price was drawn")
                schedule = learner(kind).explain(session)
                told = sum(stage.share for stage in schedule.stages)
                if abs(told - 1) > 1e-5:
                    wrong.append(f"{unit}, {currency}: the schedule adds up to {told}")
    return wrong


def again_is_free(kind: Any, folder: Path) -> list[str]:
    """The same learner on the same data is the same model and costs nothing; another parameter is another purpose."""
    wrong = []
    with opened(fresh(folder)) as session:
        first = learner(kind).fit(session)
        again = learner(kind).fit(session)
        if first.to_json() != again.to_json() or len(session.history()) != 1:
            wrong.append("the second fit is not the first")
        learner(kind, columns=["wealth", "since"]).fit(session)
        other = learner(kind).fit(session, fresh=True)
        if len(session.history()) != 3:
            wrong.append("other columns, or fresh, are not paid for")
        if other.to_json() == first.to_json():
            wrong.append("fresh draws nothing anew")
    return wrong


def other_defaults_are_paid_anew(kind: Any, folder: Path) -> list[str]:
    """How much of a person usually counts decides on every plan; with other defaults nothing of before fits."""
    usual, fewer = (sf.Person("id", max_rows=2, max_groups=2, default_max_rows=rows) for rows in (2, 1))
    for unit in (usual, fewer, usual):
        with opened(folder, unit=unit, version="v") as session:
            learner(kind).fit(session)
            charges = len(session.history())
    return [] if charges == 2 else [f"{charges} charges for two defaults"]


def its_version_counts(kind: Any, folder: Path) -> list[str]:
    """A later version of the learner is another purpose, which is paid for; a model of this one is still read."""
    wrong, where = [], fresh(folder)
    later = learner(kind)
    later.version = kind.version + 1
    with opened(where) as session:
        model = learner(kind).fit(session)
        model.save(where / "model.json")
        later.fit(session)
        learner(kind).fit(session)
        if len(session.history()) != 2:
            wrong.append("two versions are not two charges")
    if later.model_.version != kind.version + 1:
        wrong.append("its model does not say which version it is of")
    later.save(where / "later.json")
    loaded = sf.learn.load(where / "model.json")
    if loaded.model_ != model.model_ or sf.learn.load(where / "later.json").model_ != later.model_:
        wrong.append("a file of another version is not read as it is")
    return wrong


def resumes(kind: Any, folder: Path) -> list[str]:
    """Broken off before a round, the next fit goes on; what was kept stays as it was, and nothing is paid twice.

    Before the first round, the second, the middle one and the last.
    """
    wrong = []
    with opened(fresh(folder)) as session:
        learner(kind).fit(session)
        rounds = len(session._ledger.draws())
    for place in sorted({0, min(1, rounds - 1), rounds // 2, rounds - 1}):
        where = fresh(folder)
        with opened(where) as session:
            try:
                learner(kind).fit(session, progress=_breaking(place))
                if len(session._ledger.draws()) > place:  # noise decides how many rounds there are
                    wrong.append(f"it says nothing of its progress in round {place}")
            except KeyboardInterrupt:
                pass
        with opened(where) as session:
            kept = [entry.hash for entry in session._ledger.records.chain.entries()]
            learner(kind).fit(session)
            entries = list(session._ledger.records.chain.entries())
            if [entry.hash for entry in entries][: len(kept)] != kept or len(session.history()) != 1:
                wrong.append(f"broken off in round {place}, it does not go on")
    return wrong


def _breaking(at: int) -> Callable[[float, str], None]:
    calls = iter(range(10**6))

    def told(share: float, what: str) -> None:
        if next(calls) == at:
            raise KeyboardInterrupt

    return told


@dataclass(frozen=True)
class Look:
    """One plan that was released: what the engine had counted, and what came out."""

    certified: Certified
    found: Found
    values: ReleasedRows


@contextmanager
def watched(session: Any, script: Sequence[ReleasedRows] = ()) -> Iterator[list[Look]]:
    """Every plan that is released, in order. With a script that is what comes out, whatever the engine has counted.

    The seed of an envelope is always the same.
    """
    seen: list[Look] = []
    release, seal = door.release, session._ledger.seal

    def released(certified: Any, receipt: Any, found: Any, entropy: Any) -> Release:
        made = release(certified, receipt, found, entropy)
        if len(seen) < len(script):
            made = Release(made.entry, script[len(seen)], made.groups)
        seen.append(Look(certified, found, made.values))
        return made

    door.release = released
    session._ledger.seal = lambda sealing: replace(seal(sealing), seed="00112233445566778899aabbccddeeff")
    try:
        yield seen
    finally:
        door.release, session._ledger.seal = release, seal


def sees_releases_alone(kind: Any, folder: Path) -> list[str]:
    """With the same releases the same plans and the same model, whatever the rows are."""
    wrong = []
    for currency, delta in DELTAS.items():
        script: list[ReleasedRows] = []
        found = []
        for table in (people(300), people(200, seed=9)):
            with opened(fresh(folder), table, delta=delta) as session, watched(session, script) as seen:
                model = learner(kind).fit(session).model_
                found.append(([look.certified.digest for look in seen], model.fitted))
            script = [look.values for look in seen]
        (plans, fitted), (other_plans, other_fitted) = found
        wrong += [] if plans == other_plans else [f"{currency}: its plans depend on more than releases"]
        wrong += [] if fitted == other_fitted else [f"{currency}: its model depends on more than releases"]
    return wrong


def keeps_to_its_bounds(kind: Any, folder: Path) -> list[str]:
    """One unit less moves the integers of every draw by no more than was certified, as long as releases are equal."""
    wrong = []
    for name, currency in (*product(UNITS, ["epsilon"]), ("person", "rho")):
        table = people(160)
        gone = [0] if name == "row" else [0, 1]  # of the first person
        neighbour = table.filter(pa.array([row not in gone for row in range(table.num_rows)]))
        runs, script = [], list[ReleasedRows]()
        for rows in (table, neighbour):
            protected = opened(fresh(folder), rows, unit=UNITS[name], delta=DELTAS[currency])
            with protected as session, watched(session, script) as seen:
                learner(kind).fit(session)
            runs.append(seen)
            script = [look.values for look in seen]
        moved = [_moved(one, other) for one, other in zip(*runs, strict=True)]
        wrong += [f"{name}, {currency}: {told}" for told in moved if told]
        if not any(_differ(one.found, other.found) for one, other in zip(*runs, strict=True)):
            wrong.append(f"{name}, {currency}: nobody moves anything, and the check checks nothing")
    return wrong


def _moved(one: Look, other: Look) -> str:
    """Of a choice the rows of every table, of noise that is added the vector of all groups."""
    (release,) = one.certified.releases
    chooses = isinstance(one.found.entries[0][0], tuple)
    l1 = one.certified.plan.capped.l1 if chooses else release.sensitivity.l1
    squared = one.certified.plan.capped.l2_squared if chooses else release.sensitivity.l2_squared
    pairs = [
        (_dense(row[0]), _dense(less[0])) for row, less in zip(one.found.entries, other.found.entries, strict=True)
    ]
    for table in range(len(pairs[0][0])):
        moved = np.concatenate([np.abs(here[table] - there[table]) for here, there in pairs])
        if moved.sum() > l1 or (moved**2).sum() > squared:
            return f"{type(one.certified.plan.measures[0].aggregate).__name__} moved by {moved.sum()}, certified: {l1}"
    return ""


def _differ(one: Found, other: Found) -> bool:
    rows = zip(one.entries, other.entries, strict=True)
    return any(
        not np.array_equal(x, y) for row, less in rows for x, y in zip(_dense(row[0]), _dense(less[0]), strict=True)
    )


def _dense(entry: Any) -> list[Any]:
    """Integers of cells, of each table one list."""
    match entry:
        case tuple():
            return [table for each in entry for table in _dense(each)]
        case CellCounts(places=places, counts=counts):
            dense = np.zeros(1 << 14, dtype=np.int64)
            dense[places] = counts
            return [dense]
        case CellSums(places=places, sums=sums):
            dense = np.zeros(1 << 14, dtype=np.int64)
            dense[places] = sums
            return [dense]
        case _:
            return [np.array([int(entry)])]


def survives(kind: Any, folder: Path) -> list[str]:
    """Whatever the rows are, a fit succeeds, its model predicts, and one that has nothing to say says so.

    Noise alone is above three deviations in one of 140 tables: of seven, in four or more in one of 10^7 checks.
    """
    wrong, silent, whole = [], [], people(40)
    tables = {
        "empty": whole.slice(0, 0),
        "one row": whole.slice(0, 1),
        "one class": whole.set_column(whole.schema.get_field_index("y"), "y", pa.array(["no"] * 40)),
        "no class": whole.set_column(whole.schema.get_field_index("y"), "y", pa.array([None] * 40, pa.string())),
        "all missing": pa.table({name: pa.nulls(40, whole.schema.field(name).type) for name in whole.column_names}),
        "other classes": whole.set_column(whole.schema.get_field_index("y"), "y", pa.array(["maybe"] * 40)),
    }
    tables["hardly a spend"] = people(600)
    for name, table in tables.items():
        with opened(fresh(folder), table) as session:
            try:
                model = learner(kind, 0.001 if name == "hardly a spend" else 0.01, **LARGE.get(kind, {})).fit(session)
            except SfumatoError as error:
                wrong.append(f"{name}: {error}")
                continue
            wrong += [f"{name}: {told}" for told in _nonsense(model)]
            if not any("oise" in note for note in model.notes_):
                silent.append(name)
    return wrong + ([f"it does not say that noise rules it: {', '.join(silent)}"] if len(silent) > MOST_LUCKY else [])


def _nonsense(model: Any) -> list[str]:
    """Of rows of its own it says finite numbers, declared classes with probabilities that add up, or what lies within
    the bounds of its target.
    """
    told = _said(model, people(30))
    numbers = [values for values in told if values.dtype.kind == "f"]
    if any(len(values) != 30 for values in told if values.ndim == 1) or not all(
        np.isfinite(one).all() for one in numbers
    ):
        return ["what it says of rows are no numbers"]
    if hasattr(model, "classes_"):
        return [] if np.allclose(np.sum(numbers, axis=0), 1) else ["its probabilities do not add up"]
    if not model.supervised:
        return []
    declared = COLUMNS[model.target]
    inside = (numbers[0] >= float(declared.lower)) & (numbers[0] <= float(declared.upper))
    return [] if inside.all() else ["its predictions are beyond bounds"]


def _said(model: Any, table: Any) -> list[Any]:
    """What a model says of rows, or of all that there are."""
    if isinstance(model, sf.learn.Correlation):
        return [model.correlation_, model.error_]
    return list(model.predicted(table).values())


def keeps_whole(kind: Any, folder: Path) -> list[str]:
    """Saved and loaded it is the same; its file is JSON without anything of the rows but whole numbers of releases."""
    wrong = []
    where = fresh(folder)
    with opened(where) as session:
        model = learner(kind).fit(session)
    model.save(where / "model.json")
    loaded = sf.learn.load(where / "model.json")
    if not issubclass(kind, type(loaded)) or loaded.model_ != model.model_ or loaded.to_json() != model.to_json():
        wrong.append("what is loaded is not what was saved")
    table = people(200, seed=3)
    pairs = zip(_said(loaded, table), _said(model, table), strict=True)
    return wrong + ([] if all(np.array_equal(*pair) for pair in pairs) else ["what is loaded predicts otherwise"])


def refuses(kind: Any, folder: Path) -> list[str]:
    """What cannot be learnt is refused before anything is paid."""
    wrong = []
    columns = COLUMNS | {"name": sf.Text(), "code": sf.Identifier(), "open": sf.Float(), "lone": sf.Category(["a"])}
    table = people(40)
    for name in ("name", "code", "lone"):
        table = table.append_column(name, pa.array(["a"] * 40))
    table = table.append_column("open", pa.array([1.5] * 40))
    given: list[dict[str, Any]] = [
        {"columns": ["name"]}, {"columns": ["code"]}, {"columns": ["open"]}, {"columns": ["age", "age"]},
        {"columns": []}, {"columns": "age"}, {"columns": 3}, {"columns": ["z"]}, {"columns": None},
        {"spend": None}, {"spend": 0}, {"spend": 1e-9}, {"spend": "much"}, {"spend": 11}, {"max_rows": 1},
    ]  # fmt: skip
    if kind.supervised:
        given += [{"target": name} for name in (None, "z", "name", "code", "lone", "open", *_unusable(kind))]
        given += [{"columns": [learner(kind).target]}]
    if "expected_rows" in learner(kind).get_params():
        given += [{"expected_rows": 0}]
    with opened(fresh(folder), table, columns=columns) as session:
        for changes in given:
            try:
                learner(kind, **({"spend": 1} | changes)).fit(session)
                wrong.append(f"{changes} is not refused")
            except SfumatoError:
                pass
        if session.history():
            wrong.append("something was paid before it was refused")
    return wrong


def _unusable(kind: Any) -> tuple[str, ...]:
    """Targets that others take: who tells classes apart wants these, and who predicts numbers no others."""
    if issubclass(kind, sf.learn.Linear):
        return ("y", "since")
    return () if issubclass(kind, sf.learn.Additive | sf.learn.Tree) else ("wealth",)


def fresh(folder: Path) -> Path:
    """A folder that is not there yet."""
    made = folder / f"{len(list(folder.iterdir()))}"
    made.mkdir()
    return made


CHECKS: dict[str, Check] = {
    "shares add up": shares_add_up,
    "again is free": again_is_free,
    "other defaults": other_defaults_are_paid_anew,
    "its version counts": its_version_counts,
    "resumes": resumes,
    "sees releases alone": sees_releases_alone,
    "keeps to its bounds": keeps_to_its_bounds,
    "survives": survives,
    "keeps whole": keeps_whole,
    "refuses": refuses,
}
