"""What every device with a file promises, whatever it remembers: one budget for all threads, processes and names."""

import fcntl
import json
import multiprocessing
import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as Waiting
from contextlib import contextmanager
from pathlib import Path
from stat import S_ISDIR
from threading import Event
from typing import Any

import pytest

from sfumato.errors import BudgetExceeded, DataUnreadable, SfumatoError
from sfumato.kernel.entropy import SystemEntropy
from tests.devices.kinds import KINDS, Kind, granted

ENOUGH = 20.0  # seconds, for what must come
A_WHILE = 0.4  # seconds, for what must not


@pytest.fixture(params=KINDS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def kind(name: str) -> Kind:
    return KINDS[name]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "device"


class Acting(SystemEntropy):
    """Does something in the middle of a report: after the state was read, before the new one is stored."""

    __slots__ = ("_act",)

    def __init__(self, act: Callable[[], None]) -> None:
        self._act = act

    def words(self, count: int) -> Any:
        self._act()
        return super().words(count)

    def below(self, bound: int) -> int:
        self._act()
        return super().below(bound)


@contextmanager
def in_the_middle(kind: Kind, path: Path, number: int) -> Iterator[Future[Any]]:
    """A device that has read its state and not stored the new one, until the block ends."""
    reached, go = Event(), Event()

    def stop() -> None:
        reached.set()
        go.wait(ENOUGH)

    slow = kind.open(path, entropy=Acting(stop))
    with ThreadPoolExecutor(1) as pool:
        report = pool.submit(slow.report, number)
        try:
            assert reached.wait(ENOUGH)
            yield report
        finally:
            go.set()


def spent(path: Path) -> str:
    return str(json.loads(path.read_text())["spent"])


# ---- the file


def test_it_remembers_and_is_private(kind: Kind, path: Path) -> None:
    first = kind.open(path, 2).report(7)
    again = kind.open(path, 2)
    if kind.remembers:
        assert again.report(7) == first
        assert spent(path) == "1"
    assert path.stat().st_mode & 0o077 == 0
    assert os.listdir(path.parent) == [path.name], "nothing is left beside it"


def test_files_of_earlier_versions_open(kind: Kind, path: Path) -> None:
    path.write_text(kind.earlier)
    device = kind.open(path, 2)
    if kind.remembers:
        assert kind.open(path, 2).report(7) in ((6.99767, 10.00171), {"protocol": "1773e8caf46a42c2", "report": 38})
    assert granted(device, [1, 2, 3]) == 1
    now, before = json.loads(path.read_text()), json.loads(kind.earlier)
    assert now.keys() == before.keys()
    assert now["spent"] == "2"


DAMAGED = [
    "",
    "{",
    "no",
    "[]",
    "7",
    "{}",
    '{"version": 9}',
    '{"settings": {}, "version": 1, "day": "x"}',
    "[" * 100_000,
]


@pytest.mark.parametrize("content", DAMAGED, ids=lambda content: content[:12])
def test_a_damaged_file_is_not_a_new_one(kind: Kind, path: Path, content: str) -> None:
    path.write_text(content)
    with pytest.raises(DataUnreadable, match=r"cannot be used: it (is not JSON|has another shape)"):
        kind.open(path)
    assert path.read_text() == content


@pytest.mark.parametrize("wrong", ["-1", "1/0", "much", 1, None])
def test_amounts_are_amounts(kind: Kind, path: Path, wrong: object) -> None:
    path.write_text(json.dumps({**json.loads(kind.earlier), "spent": wrong}))
    with pytest.raises(DataUnreadable, match="it has another shape"):
        kind.open(path, 2)


def test_what_is_no_file_is_refused(kind: Kind, path: Path) -> None:
    path.mkdir()
    with pytest.raises(DataUnreadable, match="cannot be used: is a directory"):
        kind.open(path)
    os.mkfifo(path.parent / "pipe")
    with pytest.raises(DataUnreadable, match="it is no ordinary file"):
        kind.open(path.parent / "pipe")
    with pytest.raises(DataUnreadable, match="cannot be written: no such file"):
        kind.open(path.parent / "nowhere" / "device")


def test_nothing_is_told_when_nothing_can_be_written(kind: Kind, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    device = kind.open(path)

    def failing(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(DataUnreadable, match=r"cannot be written: no space left on device\. Nothing was reported"):
        device.report(1)
    with pytest.raises(DataUnreadable, match="cannot be written"):
        kind.open(path.parent / "another")
    monkeypatch.undo()
    assert os.listdir(path.parent) == [path.name]
    assert spent(path) == "0"
    assert granted(device, [1, 2]) == 1


def test_nobody_repeats_a_report_before_it_is_sure_to_last(
    kind: Kind, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new file has its name, and the folder is not on disk yet: a power cut would bring the old one back."""
    one, two = kind.open(path), kind.open(path)
    named, go, flush = Event(), Event(), os.fsync

    def slow(handle: int) -> None:
        if S_ISDIR(os.fstat(handle).st_mode):
            named.set()
            go.wait(ENOUGH)
        flush(handle)

    monkeypatch.setattr(os, "fsync", slow)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(one.report, 1)
        assert named.wait(ENOUGH)
        second = pool.submit(granted, two, [1])
        with pytest.raises(Waiting):
            second.result(A_WHILE)
        go.set()
        first.result(ENOUGH)
        assert second.result(ENOUGH) == kind.remembers


# ---- threads and processes


def _granted(name: str, path: str, start: int) -> int:
    return granted(KINDS[name].open(path, 10), range(start, start + 10))


def test_processes_share_one_budget(name: str, path: Path) -> None:
    """All of them begin with no file."""
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        assert sum(pool.starmap(_granted, [(name, str(path), start) for start in (0, 20, 40)])) == 10
        pool.close()
        pool.join()
    assert spent(path) == "10"


def test_threads_share_one_budget_and_so_does_a_symbolic_link(
    kind: Kind, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path.parent / "link").symlink_to(path)
    (path.parent / "elsewhere").mkdir()
    monkeypatch.chdir(path.parent)
    devices = [kind.open("device", 3), kind.open("link", 3)]
    monkeypatch.chdir(path.parent / "elsewhere")
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(lambda number: granted(devices[number % 2], [number]), range(16))) == 3
    assert spent(path) == "3"


def test_two_who_begin_do_not_both_lay_a_first_state(kind: Kind, path: Path) -> None:
    """The second found no file either, and waits for the folder; meanwhile the first has laid one and used it."""
    folder = os.open(path.parent, os.O_RDONLY)
    with ThreadPoolExecutor(1) as pool:
        fcntl.flock(folder, fcntl.LOCK_EX)
        second = pool.submit(kind.open, path, 2)
        with pytest.raises(Waiting):
            second.result(A_WHILE)
        path.write_text(kind.earlier)
        os.close(folder)
        assert granted(second.result(ENOUGH), [1, 2, 3]) == 1


def test_a_child_forked_while_the_file_is_held_keeps_nobody_waiting(kind: Kind, path: Path) -> None:
    """It has the handles of the locks and never closes them."""
    device = kind.open(path)
    with device.file.held() as held:
        held.keep()
        alive, stay = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(stay)
            os.read(alive, 1)  # until the parent closes its end
            os._exit(granted(device, [2]))
    with ThreadPoolExecutor(1) as pool:
        report = pool.submit(device.report, 1)
        try:
            report.result(ENOUGH)
        finally:
            os.close(stay)
            _, status = os.waitpid(child, 0)
            os.close(alive)
    assert os.waitstatus_to_exitcode(status) == 0, "the budget is spent in the child as well"


def test_a_child_forked_in_the_middle_of_a_report_does_not_send_it_too(kind: Kind, path: Path) -> None:
    children: list[int] = []

    def fork() -> None:
        if not children:
            children.append(os.fork())

    device, told = kind.open(path, entropy=Acting(fork)), "sent"
    try:
        device.report(1)
    except SfumatoError as error:
        told = error.message
    if children == [0]:
        os._exit(int("forked in the middle of a report" not in told))
    _, status = os.waitpid(children[0], 0)
    assert (told, os.waitstatus_to_exitcode(status)) == ("sent", 0)


def test_a_child_that_gives_up_leaves_its_parents_lock_alone(kind: Kind, path: Path) -> None:
    device, other = kind.open(path), kind.open(path)
    with ThreadPoolExecutor(1) as pool:
        with device.file.held():
            child = os.fork()
            if child != 0:
                os.waitpid(child, 0)
                report = pool.submit(other.report, 1)
                with pytest.raises(Waiting):
                    report.result(A_WHILE)
        if child == 0:
            os._exit(0)
        report.result(ENOUGH)


# ---- names


def test_no_lock_can_be_removed_while_it_is_held(kind: Kind, path: Path) -> None:
    """As cleaners of folders do, with whatever lies beside the state."""
    other = kind.open(path)
    with ThreadPoolExecutor(1) as pool:
        with in_the_middle(kind, path, 1) as first:
            for beside in path.parent.iterdir():
                if beside != path:
                    beside.unlink()
            second = pool.submit(granted, other, [2])
            with pytest.raises(Waiting):
                second.result(A_WHILE)
        first.result(ENOUGH)
        assert second.result(ENOUGH) == 0
    assert spent(path) == "1"


def test_whoever_waited_for_a_file_that_was_replaced_takes_the_new_one(kind: Kind, path: Path) -> None:
    """The lock of the old file is free, and says nothing of the new one."""
    devices = [kind.open(path, 4) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        with devices[0].file.held():
            waiting = [pool.submit(granted, device, [number, number + 10]) for number, device in enumerate(devices)]
            with pytest.raises(Waiting):
                waiting[0].result(A_WHILE)
        assert sum(one.result(ENOUGH) for one in waiting) == 4
    assert spent(path) == "4"


@pytest.mark.parametrize("reported", [0, 1])
def test_a_hard_link_is_no_second_budget(kind: Kind, path: Path, reported: int) -> None:
    device = kind.open(path, 2)
    assert granted(device, range(reported)) == reported
    second = path.parent / "second"
    os.link(path, second)
    for refused in (device.report, lambda _: kind.open(path, 2), lambda _: kind.open(second, 2)):
        with pytest.raises(DataUnreadable, match="has a second name") as caught:
            refused(5)
        assert "Remove its other names" in caught.value.hint
    second.unlink()
    assert granted(device, [5, 6, 7]) == 2 - reported


def test_a_hard_link_made_in_the_middle_of_a_report(kind: Kind, path: Path) -> None:
    """Replaced, the file would be left to its second name, with the budget of before."""
    with in_the_middle(kind, path, 1) as report:
        os.link(path, path.parent / "second")
    with pytest.raises(DataUnreadable, match="has a second name"):
        report.result(ENOUGH)


@pytest.mark.parametrize("ending", [".new", ".lock", ".tmp", ".old"])
def test_a_device_may_have_any_name(kind: Kind, path: Path, ending: str) -> None:
    """Nothing that another device lays beside its own state has it."""
    beside = path.with_name(path.name + ending)
    first = kind.open(beside)
    assert granted(first, [1, 2]) == 1
    assert granted(kind.open(path), [1, 2]) == 1
    assert granted(kind.open(beside), [2]) == granted(first, [2]) == 0
    assert sorted(os.listdir(path.parent)) == sorted([path.name, beside.name])


def test_a_link_put_in_the_place_of_the_file_is_not_followed(kind: Kind, path: Path) -> None:
    device = kind.open(path)
    shutil.copy(path, path.parent / "copy")
    path.unlink()
    path.symlink_to(path.parent / "copy")
    with pytest.raises(DataUnreadable, match="cannot be used: too many levels of symbolic links"):
        device.report(1)


# ---- older states


@pytest.mark.parametrize("put", [shutil.copy, os.replace], ids=["written over", "replaced"])
def test_an_older_copy_under_a_running_device_is_refused(
    kind: Kind, path: Path, put: Callable[[Path, Path], Any]
) -> None:
    device, old = kind.open(path), path.parent / "old"
    shutil.copy(path, old)
    newest = device.report(1)
    shutil.copy(path, path.parent / "newest")
    put(old, path)
    for number in (1, 2):
        with pytest.raises(DataUnreadable, match="has forgotten what this device has seen"):
            device.report(number)
    put(path.parent / "newest", path)
    if kind.remembers:
        assert device.report(1) == newest
    assert granted(device, [2]) == 0


def test_an_older_copy_is_refused_by_whoever_has_read_the_newer_one(kind: Kind, path: Path) -> None:
    kind.open(path, 2)
    shutil.copy(path, path.parent / "old")
    reader = kind.open(path, 2)
    kind.open(path, 2).report(1)
    with reader.file.held():
        pass
    os.replace(path.parent / "old", path)
    with pytest.raises(DataUnreadable, match="has forgotten"):
        reader.report(2)


def test_an_older_copy_that_others_have_used_is_refused(kind: Kind, path: Path) -> None:
    """As much was spent, on something else."""
    device, old = kind.open(path, 3), path.parent / "old"
    shutil.copy(path, old)
    device.report(1)
    os.replace(old, path)
    kind.open(path, 3).report(2)
    with pytest.raises(DataUnreadable, match="has forgotten"):
        device.report(3)
    kind.open(path, 3).report(4)
    with pytest.raises(DataUnreadable, match="has forgotten"):
        device.report(3)


@pytest.mark.parametrize("amount", ["1", "2"])
def test_more_that_was_not_paid_for_is_refused(kind: Kind, path: Path, amount: str) -> None:
    """What was remembered is there, and something besides: of that, no more or even less was spent."""
    device = kind.open(path, 3)
    assert granted(device, [1, 2]) == 2
    state = json.loads(path.read_text())
    state["places" if "places" in state else "kept"]["1,1"] = [0.0, 0.0]
    path.write_text(json.dumps({name: amount if name.startswith("spent") else each for name, each in state.items()}))
    with pytest.raises(DataUnreadable, match="has forgotten"):
        device.report(3)


def test_what_others_have_added_is_no_older_copy(kind: Kind, path: Path) -> None:
    one, two = kind.open(path, 4), kind.open(path, 4)
    for number, device in enumerate([one, two, two, one]):
        device.report(number)
    path.write_text(json.dumps(json.loads(path.read_text()), indent=2))  # the same, written otherwise
    for device in (one, two):
        with pytest.raises(BudgetExceeded):
            device.report(9)


def test_a_file_that_is_gone_under_a_running_device_is_no_new_budget(kind: Kind, path: Path) -> None:
    device = kind.open(path)
    device.report(1)
    path.unlink()
    with pytest.raises(DataUnreadable, match="is gone since this device was opened"):
        device.report(2)
    assert not path.exists()


@pytest.mark.parametrize("gone", [True, False])
def test_a_file_replaced_in_the_middle_of_a_report(kind: Kind, path: Path, gone: bool) -> None:
    kind.open(path)
    shutil.copy(path, path.parent / "old")
    with in_the_middle(kind, path, 1) as report:
        if gone:
            path.unlink()
        else:
            os.replace(path.parent / "old", path)
            assert granted(kind.open(path), [2]) == 1, "its lock is another one"
    with pytest.raises(DataUnreadable, match="replaced or removed in the middle of a report"):
        report.result(ENOUGH)
