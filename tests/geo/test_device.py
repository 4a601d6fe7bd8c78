"""Traces: budget a day, reuse, refusal, clocks. What holds for the file of any device is in tests/devices."""

import copy
import json
import pickle
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

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
    """M1, for positions: without reuse the mean of 365 reports is within a few dozen metres."""
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


def test_a_state_with_fewer_places_or_an_earlier_day_is_refused(tmp_path: Path) -> None:
    device, path = opened(tmp_path, per_day=9), tmp_path / "trace.json"
    device.report(39.0, 116.31, at=NOW)
    device.report(40.0, 116.31, at=NOW)
    newest = json.loads(path.read_text())
    one = dict(list(newest["places"].items())[:1])
    for older in ({"places": one}, {"day": newest["day"] - 1}):
        path.write_text(json.dumps({**newest, "spent": "3", **older}))
        with pytest.raises(DataUnreadable, match="has forgotten"):
            device.report(39.0, 116.31, at=NOW)
    path.write_text(json.dumps(newest))
    assert device.report(39.0, 116.31, at=NOW).reused


def test_a_device_made_by_hand_has_one_file_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "trace.json")
    monkeypatch.chdir(tmp_path)
    device = sf.geo.Device(Path("link.json"), MECHANISM, Fraction(3), None, Fraction(50))
    assert device == opened(tmp_path)
    assert device.path == tmp_path.resolve() / "trace.json"
    device.report(39.0, 116.31, at=NOW)
    assert (tmp_path / "link.json").is_symlink()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda device: pickle.loads(pickle.dumps(device))])  # noqa: S301
def test_a_copy_shares_the_file_and_what_was_seen(tmp_path: Path, copied: Callable[[Any], Any]) -> None:
    device = opened(tmp_path)
    device.budget()
    shutil.copy(tmp_path / "trace.json", tmp_path / "old.json")
    device.report(39.0, 116.31, at=NOW)
    another = copied(device)
    assert another == device
    assert another.report(39.0, 116.31, at=NOW).reused
    shutil.copy(tmp_path / "old.json", tmp_path / "trace.json")
    with pytest.raises(DataUnreadable, match="has forgotten"):
        another.report(40.0, 116.31, at=NOW)
