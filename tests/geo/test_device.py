"""Traces: budget a day, reuse, refusal, durability, clocks, other processes."""

import json
import multiprocessing
import os
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import BudgetExceeded, DataUnreadable, UsageError

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
MECHANISM = sf.geo.planar(level=1, radius_m=200)


def opened(folder: Path, **changes: object) -> sf.geo.Device:
    return sf.geo.device(folder / "trace.json", **{"mechanism": MECHANISM, "per_day": 3, **changes})


def test_a_known_place_is_free_and_the_same(tmp_path: Path) -> None:
    device = opened(tmp_path)
    first = device.report(39.96, 116.31, at=NOW)
    again = [device.report(39.96, 116.31, at=NOW + timedelta(days=day)) for day in range(365)]
    assert not first.reused
    assert all(told.reused and (told.lat, told.lon) == (first.lat, first.lon) for told in again)
    assert device.budget() == {"per_day": 3.0, "spent_today": 1.0, "spent": 1.0, "places": 1}


def test_averaging_a_year_of_reports_tells_no_more_than_one(tmp_path: Path) -> None:
    """M1 for positions; without reuse the mean of 365 reports is within a few dozen metres."""
    device = opened(tmp_path)
    told = [device.report(39.96, 116.31, at=NOW + timedelta(days=day)) for day in range(40)]
    assert len({(one.lat, one.lon) for one in told}) == 1
    fresh = MECHANISM.report(np.full(365, 39.96), np.full(365, 116.31))
    assert sf.geo.distance_m(39.96, 116.31, fresh.lat.mean(), fresh.lon.mean()) < 150


def test_new_places_are_charged_linearly_and_refused(tmp_path: Path) -> None:
    device = opened(tmp_path)
    left = [device.report(39.0 + place, 116.31, at=NOW).left_today for place in range(3)]
    assert left == [2.0, 1.0, 0.0]
    with pytest.raises(BudgetExceeded, match="0 of 3 a day is left"):
        device.report(50.0, 116.31, at=NOW)
    assert device.report(39.0, 116.31, at=NOW).reused
    assert not device.report(50.0, 116.31, at=NOW + timedelta(days=1)).reused


def test_a_total_limit(tmp_path: Path) -> None:
    device = opened(tmp_path, total=2)
    for day in range(2):
        device.report(39.0 + day, 116.31, at=NOW + timedelta(days=day))
    with pytest.raises(BudgetExceeded, match="in all"):
        device.report(50.0, 116.31, at=NOW + timedelta(days=9))


def test_a_clock_put_back_refills_nothing(tmp_path: Path) -> None:
    device = opened(tmp_path)
    for place in range(3):
        device.report(39.0 + place, 116.31, at=NOW)
    with pytest.raises(BudgetExceeded):
        device.report(50.0, 116.31, at=NOW - timedelta(days=3650))


def test_the_budget_survives_and_the_file_is_private(tmp_path: Path) -> None:
    opened(tmp_path).report(39.0, 116.31, at=NOW)
    assert opened(tmp_path).report(39.0, 116.31, at=NOW).reused
    assert (tmp_path / "trace.json").stat().st_mode & 0o077 == 0
    assert json.loads((tmp_path / "trace.json").read_text())["spent"] == "1"


def test_other_settings_are_refused(tmp_path: Path) -> None:
    opened(tmp_path).report(39.0, 116.31, at=NOW)
    for changes in (
        {"per_day": 30},
        {"place_m": 10},
        {"mechanism": sf.geo.planar(level=2, radius_m=200)},
        {"total": 9},
    ):
        with pytest.raises(UsageError, match="another"):
            opened(tmp_path, **changes).report(39.0, 116.31, at=NOW)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"version": 9}', '{"settings": {}, "version": 1, "day": "x"}'])
def test_a_damaged_file_is_not_a_new_one(tmp_path: Path, content: str) -> None:
    (tmp_path / "trace.json").write_text(content)
    with pytest.raises(DataUnreadable, match="not a readable device file"):
        opened(tmp_path).report(39.0, 116.31, at=NOW)


def test_nothing_is_told_when_nothing_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    device = opened(tmp_path)

    def failing(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(DataUnreadable, match="Nothing was reported"):
        device.report(39.0, 116.31, at=NOW)
    monkeypatch.undo()
    assert device.budget()["spent"] == 0
    with pytest.raises(DataUnreadable, match="cannot be written"):
        sf.geo.device(tmp_path / "nowhere" / "x.json", MECHANISM, per_day=1).report(1.0, 1.0)


def claim(path: str, start: int) -> int:
    device = sf.geo.device(path, MECHANISM, per_day=10)
    granted = 0
    for place in range(10):
        try:
            device.report(float(start), float(place), at=NOW)
            granted += 1
        except BudgetExceeded:
            pass
    return granted


def test_processes_share_one_budget(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        granted = pool.starmap(claim, [(str(tmp_path / "trace.json"), start) for start in range(3)])
    assert sum(granted) == 10


@pytest.mark.parametrize("place", [(90.0, 10.0), (-90.0, 0.0), (0.0, 180.0), (0.0, -180.0), (89.9999, 33.0)])
def test_cells_at_the_edges_of_the_world(tmp_path: Path, place: tuple[float, float]) -> None:
    device = opened(tmp_path)
    row, column = device._place(*place)
    middle = device._middle(row, column)
    assert sf.geo.distance_m(*place, *middle) < 100
    assert device._place(*middle) == (row, column)


def test_both_sides_of_the_date_line_meet(tmp_path: Path) -> None:
    device = opened(tmp_path)
    assert device._place(10.0, 180.0) == device._place(10.0, -180.0 + 1e-9)


def test_threads_share_one_budget_and_so_does_a_link(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "trace.json")
    devices = [opened(tmp_path), sf.geo.device(tmp_path / "link.json", MECHANISM, per_day=3)]

    def granted(place: int) -> int:
        try:
            devices[place % 2].report(float(place), 10.0, at=NOW)
        except BudgetExceeded:
            return 0
        return 1

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(granted, range(16))) == 3
    assert devices[0].budget()["spent"] == 3.0


def test_a_child_forked_while_the_file_is_held_keeps_nobody_waiting(tmp_path: Path) -> None:
    device = opened(tmp_path)
    with device._locked():
        alive, stay = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(stay)
            os.read(alive, 1)  # until the parent closes its end
            os._exit(0)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(device.report, 39.0, 116.31, at=NOW)
        try:
            assert not waiting.result(20).reused
        finally:
            os.close(stay)
            os.waitpid(child, 0)
            os.close(alive)
