"""A trace on a device: every new place is paid from a daily budget, a known place is reported as it was before.

What this hides, and what not: reports tell where places are by at most the level a place; they do tell *that* a place
is the same as yesterday's. Without reuse, averaging many reports of one place finds it.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.geo.earth import Position, positions
from sfumato.geo.planar import Planar
from sfumato.geo.wordings import daily_spent, device_differs, device_unreadable, device_unwritable, total_spent
from sfumato.kernel.entropy import Entropy
from sfumato.schema.numbers import GivenNumber, exact_positive, shown

VERSION = 1
METRES_A_DEGREE = 110_574  # of latitude, at the equator: where it is shortest


@dataclass(frozen=True, slots=True)
class Told:
    """What the device said, whether it had said so before, and what is left of the day (in levels)."""

    lat: float
    lon: float
    reused: bool
    left_today: float


@dataclass(frozen=True, slots=True)
class Device:
    """A budget and a memory in one JSON file that only its owner can read; both are on disk before a report leaves.

    Claim: on no day are more than per_day / level new places reported, and never more than total / level in all. Two
    traces with the same pattern of visits differ by at most the sum of the losses of their distinct places.
    Needs: a clock that moves forward. Put back, it gives no new budget; put ahead, it spends later days.
    Proof: docs/proofs/traces.md
    """

    path: Path
    mechanism: Planar
    per_day: Fraction
    total: Fraction | None
    place_m: Fraction

    def report(self, lat: float, lon: float, *, at: datetime | None = None, entropy: Entropy | None = None) -> Told:
        """The report for the place of this position: the stored one, or a new one that is paid first."""
        lats, lons, _ = positions(lat, lon)
        row, column = self._place(float(lats[0]), float(lons[0]))
        day = (datetime.now(UTC) if at is None else at.astimezone(UTC)).date().toordinal()
        with self._locked() as state:
            today = max(day, state["day"])
            spent = Fraction(state["spent_today"]) if today == state["day"] else Fraction(0)
            key = f"{row},{column}"
            if key in state["places"]:
                told = Position(*state["places"][key])
                return Told(told.lat, told.lon, True, float(self.per_day - spent))
            level, used = self.mechanism.level, Fraction(state["spent"])
            if spent + level > self.per_day:
                raise daily_spent(shown(level), shown(self.per_day - spent), shown(self.per_day))
            if self.total is not None and used + level > self.total:
                raise total_spent(shown(level), shown(self.total - used), shown(self.total))
            told = self.mechanism.report(*self._middle(row, column), entropy=entropy)
            state["places"][key] = [told.lat, told.lon]
            state.update(day=today, spent_today=str(spent + level), spent=str(used + level))
            self._store(state)
        return Told(told.lat, told.lon, False, float(self.per_day - spent - level))

    def budget(self) -> dict[str, Any]:
        """What was spent, in levels, and how many places are remembered."""
        with self._locked() as state:
            return {
                "per_day": float(self.per_day),
                "spent_today": float(Fraction(state["spent_today"])),
                "spent": float(Fraction(state["spent"])),
                "places": len(state["places"]),
            }

    def _place(self, lat: float, lon: float) -> tuple[int, int]:
        """The cell of a public grid whose cells are about place_m wide everywhere; a row's columns close the circle."""
        rows = self._rows()
        row = min(int((lat + 90) / 180 * rows), rows - 1)
        columns = self._columns(row)
        return row, int((lon + 180) / 360 * columns) % columns

    def _middle(self, row: int, column: int) -> tuple[float, float]:
        return (row + 0.5) / self._rows() * 180 - 90, (column + 0.5) / self._columns(row) * 360 - 180

    def _rows(self) -> int:
        return max(1, int(180 * METRES_A_DEGREE / self.place_m))

    def _columns(self, row: int) -> int:
        latitude = np.radians((row + 0.5) / self._rows() * 180 - 90)
        return max(1, round(2 * self._rows() * float(np.cos(latitude))))

    def _settings(self) -> dict[str, str | None]:
        return {
            **self.mechanism.event(),
            "per_day": str(self.per_day),
            "total": None if self.total is None else str(self.total),
            "place_m": str(self.place_m),
        }

    @contextmanager
    def _locked(self) -> Iterator[dict[str, Any]]:
        """The state, while no other thread or process can change it: each opens the lock for itself."""
        guard = self.path.with_name(self.path.name + ".lock")
        try:
            handle = os.open(guard, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise device_unwritable(str(self.path), error.strerror or "it failed") from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield self._load()
        finally:
            fcntl.flock(handle, fcntl.LOCK_UN)  # a child forked meanwhile has the handle, and with it the lock
            os.close(handle)

    def _load(self) -> dict[str, Any]:
        if not self.path.exists():
            empty = {"day": 0, "spent_today": "0", "spent": "0", "places": {}}
            return {"version": VERSION, "settings": self._settings(), **empty}
        try:
            state: dict[str, Any] = json.loads(self.path.read_text(encoding="utf-8"))
            settings = state["settings"]
            ready = state["version"] == VERSION and isinstance(state["day"], int) and isinstance(state["places"], dict)
            ready = ready and Fraction(state["spent_today"]) >= 0 and Fraction(state["spent"]) >= 0
        except (OSError, ValueError, KeyError, TypeError):
            raise device_unreadable(str(self.path)) from None
        if not ready:
            raise device_unreadable(str(self.path))
        for name, value in self._settings().items():
            if settings.get(name) != value:
                raise device_differs(name)
        return state

    def _store(self, state: dict[str, Any]) -> None:
        """Durable before anyone hears the report: written beside, flushed, renamed, and the folder flushed."""
        beside = self.path.with_name(self.path.name + ".new")
        try:
            handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(state, file)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(self.path)
            folder = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            raise device_unwritable(str(self.path), error.strerror or "it failed") from None


def device(
    path: str | Path,
    mechanism: Planar,
    *,
    per_day: GivenNumber,
    total: GivenNumber | None = None,
    place_m: GivenNumber | None = None,
) -> Device:
    """A trace that spends at most `per_day` (in levels: a new place costs the mechanism's level), and `total` in all.

    Positions in the same cell of a public grid, `place_m` wide (a quarter of the radius if not given), are one place.
    """
    cell = mechanism.radius_m / 4 if place_m is None else exact_positive(place_m, "place_m")
    limit = None if total is None else exact_positive(total, "total")
    # Resolved: a second name for the file would be a second budget.
    return Device(Path(os.path.realpath(path)), mechanism, exact_positive(per_day, "per_day"), limit, cell)
