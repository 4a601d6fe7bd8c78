"""The devices that must keep the same promises: each opened on a file, each asked by a number for something new."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import sfumato as sf
from sfumato.devices.file import InFile
from sfumato.errors import BudgetExceeded
from sfumato.kernel.entropy import Entropy
from sfumato.local import Device

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ANSWERS = sf.local.protocol("grr", domain=range(100), epsilon=1)
PLACES = sf.geo.planar(level=1, radius_m=200)


@dataclass(frozen=True)
class Opened:
    """`report` with another number each time costs 1 of the budget each time."""

    report: Callable[[int], Any]
    file: InFile


class Opening(Protocol):
    def __call__(self, path: str | Path, budget: int = 1, entropy: Entropy | None = None) -> Opened: ...


@dataclass(frozen=True)
class Kind:
    """`earlier` is a file as version 0.1.0 wrote it before devices shared one: number 7 was reported, 1 of 2 spent."""

    open: Opening
    earlier: str
    remembers: bool = True  # a number that was reported is reported again for nothing


def open_memo(path: str | Path, budget: int = 1, entropy: Entropy | None = None) -> Opened:
    device = Device(ANSWERS, budget=budget, path=path, entropy=entropy)
    return Opened(device.report, device._memory)  # type: ignore[arg-type]


def open_fresh(path: str | Path, budget: int = 1, entropy: Entropy | None = None) -> Opened:
    device = Device(ANSWERS, budget=budget, repeat="fresh", path=path, entropy=entropy)
    return Opened(device.report, device._memory)  # type: ignore[arg-type]


def open_trace(path: str | Path, budget: int = 1, entropy: Entropy | None = None) -> Opened:
    device = sf.geo.device(path, PLACES, per_day=budget, total=budget)
    device.budget()  # the others look at their file when they are made

    def report(number: int) -> Any:
        told = device.report(float(number), 10.0, at=NOON, entropy=entropy)
        return told.lat, told.lon

    return Opened(report, device._file)


ANSWERS_EARLIER = '{"protocol": "1773e8caf46a42c2", "repeat": "%s", "limit": "2", "spent": "1", "kept": {"[7]": 38}}'
TRACE_EARLIER = (
    '{"version": 1, "settings": {"mechanism": "spherical_laplace", "epsilon_per_metre": "1/200", "level": "1", '
    '"per_day": "2", "total": "2", "place_m": "50"}, "day": 739676, "spent_today": "1", "spent": "1", '
    '"places": {"214513,417048": [6.99767, 10.00171]}}'
)
KINDS = {
    "memo": Kind(open_memo, ANSWERS_EARLIER % "memo"),
    "fresh": Kind(open_fresh, ANSWERS_EARLIER % "fresh", remembers=False),
    "trace": Kind(open_trace, TRACE_EARLIER),
}


def granted(device: Opened, numbers: Iterable[int]) -> int:
    """How many reports the budget pays for."""
    found = 0
    for number in numbers:
        try:
            device.report(number)
            found += 1
        except BudgetExceeded:
            pass
    return found
