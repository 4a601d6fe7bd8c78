"""A trace on a device: every new place is paid from a daily budget, a known place is reported as it was before.

What this hides, and what not: reports tell where places are by at most the level a place; they do tell *that* a place
is the same as yesterday's. Without reuse, averaging many reports of one place finds it.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.devices.file import InFile
from sfumato.devices.state import State, amount
from sfumato.geo.earth import Position, positions
from sfumato.geo.planar import Planar
from sfumato.geo.wordings import daily_spent, device_differs, total_spent
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
class _Trace:
    """What is remembered: the settings, what was spent on the latest day and in all, and a report for each place."""

    settings: dict[str, str | None]

    def first(self) -> State:
        empty = {"day": 0, "spent_today": "0", "spent": "0", "places": {}}
        return {"version": VERSION, "settings": self.settings, **empty}

    def check(self, found: Any) -> None:
        settings, places = found["settings"], found["places"]
        if found["version"] != VERSION or not isinstance(settings, dict) or not isinstance(places, dict):
            raise ValueError("another shape")
        if not isinstance(found["day"], int) or amount(found["spent_today"]) > amount(found["spent"]):
            raise ValueError("no days or amounts")
        for name, value in self.settings.items():
            if settings.get(name) != value:
                raise device_differs(name)

    def follows(self, found: State, seen: State) -> bool:
        kept = found["places"].items() >= seen["places"].items() and found["day"] >= seen["day"]
        return kept and amount(found["spent"]) > amount(seen["spent"])


@dataclass(frozen=True, slots=True)
class Device:
    """A budget and a memory in one JSON file that only its owner can read; both are on disk before a report leaves.

    Claim: on no day are more than per_day / level new places reported, and never more than total / level in all. Two
    traces with the same pattern of visits differ by at most the sum of the losses of their distinct places.
    Needs: the file is kept. The clock moves forward: put back, it gives no new budget; put ahead, it spends later ones.
    Proof: docs/proofs/traces.md
    """

    path: Path
    mechanism: Planar
    per_day: Fraction
    total: Fraction | None
    place_m: Fraction
    _file: InFile = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        file = InFile(self.path, _Trace(self._settings()))
        object.__setattr__(self, "_file", file)
        object.__setattr__(self, "path", file.path)

    def report(self, lat: float, lon: float, *, at: datetime | None = None, entropy: Entropy | None = None) -> Told:
        """The report for the place of this position: the stored one, or a new one that is paid first."""
        lats, lons, _ = positions(lat, lon)
        row, column = self._place(float(lats[0]), float(lons[0]))
        day = (datetime.now(UTC) if at is None else at.astimezone(UTC)).date().toordinal()
        with self._file.held() as held:
            state = held.state
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
            held.keep()
        return Told(told.lat, told.lon, False, float(self.per_day - spent - level))

    def budget(self) -> dict[str, Any]:
        """What was spent, in levels, and how many places are remembered."""
        with self._file.held() as held:
            state = held.state
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
    return Device(Path(path), mechanism, exact_positive(per_day, "per_day"), limit, cell)
