"""The device: memory, budget, and what averaging 365 reports brings (threat M1). Its file: tests/devices."""

import copy
import json
import multiprocessing
import os
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from itertools import product
from math import exp, inf, log, prod
from pathlib import Path
from threading import Barrier, BrokenBarrierError
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import BudgetExceeded, DataUnreadable, Refused, UsageError
from sfumato.local import Device
from tests.entropy import SeededEntropy


def test_a_value_is_reported_word_for_word_and_a_new_one_refused() -> None:
    device = Device(sf.local.protocol("grr", domain=["a", "b", "c"], epsilon=1))
    first = device.report("a")
    assert all(device.report("a") == first for _ in range(50))
    assert (device.spent, device.left) == (1.0, 0.0)
    with pytest.raises(BudgetExceeded, match="costs epsilon 1; this device has 0 left of 1"):
        device.report("b")
    assert device.report("a") == first


def test_a_larger_budget_pays_for_more_values() -> None:
    device = Device(sf.local.protocol("olh", domain=range(10), epsilon=0.1), budget=0.3)
    for value in (1, 2, 3, 1, 2):
        device.report(value)
    with pytest.raises(BudgetExceeded):
        device.report(4)


def test_fresh_reports_cost_each_time() -> None:
    protocol = sf.local.protocol("rr", domain=["no", "yes"], epsilon=1)
    device = Device(protocol, budget=3, repeat="fresh")
    for _ in range(3):
        device.report("yes")
    with pytest.raises(BudgetExceeded):
        device.report("yes")
    with pytest.raises(UsageError, match="needs a budget"):
        Device(protocol, repeat="fresh")
    with pytest.raises(UsageError, match="memo"):
        Device(protocol, repeat="memmo")


def test_m1_365_reports_tell_no_more_than_epsilon() -> None:
    """The attacker takes the likelier value; without memory 365 reports would give every one away."""
    epsilon, people, hits = 1, 1000, 0
    protocol = sf.local.protocol("grr", domain=["no", "yes"], epsilon=epsilon)
    entropy = SeededEntropy("M1")
    for person in range(people):
        truth = ["no", "yes"][person % 2]
        device = Device(protocol, entropy=entropy)
        answers = {device.report(truth)["report"] for _ in range(365)}
        assert len(answers) == 1
        hits += answers == {person % 2}
    assert hits / people <= allowed(epsilon, people)


def allowed(epsilon: float, people: int) -> float:
    limit = exp(epsilon) / (1 + exp(epsilon)) + 0.01
    return limit + 5 * (limit * (1 - limit) / people) ** 0.5


def test_m1_rappor_varies_its_reports_and_still_tells_no_more() -> None:
    """All 365 reports of 2,000 people who keep their permanent response: the mean of them shows it, and no more."""
    epsilon, people = 1, 2000
    scheme = sf.local.protocol("rappor", domain=["no", "yes"], epsilon=epsilon, bits=8, hashes=1, cohorts=1).scheme
    truth, entropy = np.arange(people) % 2, SeededEntropy("M1 rappor")
    kept = scheme.permanent(truth, entropy)  # type: ignore[attr-defined]
    seen = np.zeros((people, 8))
    for _ in range(365):
        _, rows = scheme.instantaneous(kept, entropy)  # type: ignore[attr-defined]
        seen += np.unpackbits(rows, axis=1, bitorder="little")
    filters = np.unpackbits(scheme.filters()[0], axis=1, bitorder="little").astype(float)  # type: ignore[attr-defined]
    guess = np.argmax(seen @ filters.T, axis=1)
    assert np.mean(guess == truth) <= allowed(epsilon, people)
    assert np.mean(guess == truth) > 0.6, "the attack must come near"


def test_without_memory_the_same_attack_wins() -> None:
    protocol = sf.local.protocol("grr", domain=["no", "yes"], epsilon=1)
    entropy, hits = SeededEntropy("no memory"), 0
    for person in range(200):
        truth = ["no", "yes"][person % 2]
        rows = protocol.estimate(protocol.randomise([truth] * 31, entropy=entropy)).rows
        hits += (rows[1]["unbiased"] > rows[0]["unbiased"]) == (truth == "yes")
    assert hits / 200 > 0.97


def test_memory_protects_values_and_shows_the_pattern() -> None:
    """By enumeration, three values, ε = 1: one pattern loses at most 2ε; to come back or go on is told apart."""
    values, q = range(3), exp(1) / (exp(1) + 2)

    def law(history: tuple[int, ...]) -> dict[tuple[int, ...], float]:
        found: dict[tuple[int, ...], float] = {}
        for draws in product(values, repeat=len(set(history))):
            stored = dict(zip(dict.fromkeys(history), draws, strict=True))
            chance = prod(q if value == told else (1 - q) / 2 for value, told in stored.items())
            sent = tuple(stored[value] for value in history)
            found[sent] = found.get(sent, 0) + chance
        return found

    def loss(one: tuple[int, ...], two: tuple[int, ...]) -> float:
        first, second = law(one), law(two)
        return max(log(chance / second[sent]) if sent in second else inf for sent, chance in first.items())

    assert loss((0, 1, 0), (2, 0, 2)) == pytest.approx(2)
    assert loss((0, 1, 2), (0, 1, 0)) == inf
    entropy = SeededEntropy("pattern")
    protocol = sf.local.protocol("grr", domain=values, epsilon=1)
    back = [[device.report(value)["report"] for value in (0, 1, 0)] for device in _devices(protocol, entropy)]
    on = [[device.report(value)["report"] for value in (0, 1, 2)] for device in _devices(protocol, entropy)]
    assert all(first == third for first, _, third in back)
    assert not all(first == third for first, _, third in on)


def _devices(protocol: Any, entropy: SeededEntropy) -> list[Device]:
    return [Device(protocol, budget=3, entropy=entropy) for _ in range(100)]


def test_rappor_keeps_its_permanent_response_and_varies_the_report() -> None:
    device = Device(sf.local.protocol("rappor", domain=["a", "b"], epsilon=2))
    seen = {json.dumps(device.report("a")) for _ in range(30)}
    assert len(seen) > 20
    assert len({json.loads(one)["report"][0] for one in seen}) == 1, "one cohort for ever"
    assert device.spent == 2.0


def test_a_file_of_another_specification_or_limit_is_refused(tmp_path: Path) -> None:
    protocol, path = sf.local.protocol("grr", domain=range(100), epsilon=1), tmp_path / "device.json"
    Device(protocol, budget=2, path=path).report(7)
    assert Device(protocol, budget=2, path=path).spent == 1.0
    for other, changes in (
        (protocol, {"budget": 3}),
        (protocol, {"budget": 2, "repeat": "fresh"}),
        (sf.local.protocol("grr", domain=range(99), epsilon=1), {"budget": 2}),
    ):
        with pytest.raises(Refused, match="another specification or limit"):
            Device(other, path=path, **changes)  # type: ignore[arg-type]


def test_a_memory_with_another_report_for_a_value_is_refused(tmp_path: Path) -> None:
    """Somebody has used an older copy: both reports about the value are out."""
    protocol, path = sf.local.protocol("grr", domain=range(100), epsilon=1), tmp_path / "device.json"
    device = Device(protocol, budget=3, path=path)
    device.report(1)
    state = json.loads(path.read_text())
    path.write_text(json.dumps({**state, "spent": "2", "kept": {"[1]": state["kept"]["[1]"] ^ 1, "[2]": 5}}))
    with pytest.raises(DataUnreadable, match="has forgotten"):
        device.report(1)


def _reports(path: str) -> list[str]:
    device = Device(sf.local.protocol("grr", domain=range(1000), epsilon=1), budget=3, path=path)
    found = []
    for value in range(6):
        try:
            found.append(json.dumps([value, device.report(value)]))
        except BudgetExceeded:
            found.append("refused")
    return found


def test_two_processes_share_one_budget_and_one_memory(tmp_path: Path) -> None:
    path = str(tmp_path / "device.json")
    with ProcessPoolExecutor(3) as pool:
        runs = list(pool.map(_reports, [path] * 3))
    sent = {one for run in runs for one in run if one != "refused"}
    assert len(sent) == 3, "three values, each with one report"
    assert json.loads(Path(path).read_text())["spent"] == "3"


def test_a_refused_value_costs_nothing() -> None:
    device = Device(sf.local.protocol("grr", domain=["a", "b"], epsilon=1))
    with pytest.raises(UsageError, match="row 1: the answer is not in the domain"):
        device.report("c")
    assert device.spent == 0
    two = Device(sf.local.attributes({"x": ["a", "b"], "y": (0, 1)}, epsilon=1))
    assert two.report({"x": "a", "y": 0.5}) == two.report({"x": "a", "y": 0.5})


class Meeting(dict[str, Any]):
    """The state of a device: whoever is about to write waits for a second who read the same, or a while."""

    def __init__(self, state: dict[str, Any], seconds: float) -> None:
        super().__init__(state)
        self._barrier, self._seconds = Barrier(2), seconds

    def __setitem__(self, name: str, value: Any) -> None:
        if name == "spent":
            with suppress(BrokenBarrierError):
                self._barrier.wait(self._seconds)
        super().__setitem__(name, value)


def _sent(device: Device, value: int) -> int:
    try:
        device.report(value)
    except BudgetExceeded:
        return 0
    return 1


def test_two_threads_cannot_spend_one_budget_twice() -> None:
    device = Device(sf.local.protocol("grr", domain=range(100), epsilon=1), budget=1)
    device._memory.known = Meeting(device._memory.known, 0.5)
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(_sent, [device] * 8, range(8))) == 1
    assert (device.spent, device.left) == (1.0, 0.0)


def test_the_meeting_does_catch_a_device_without_a_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin: the same threads, and a lock that locks nothing."""

    class NoLock:
        def __enter__(self) -> None: ...
        def __exit__(self, *_: object) -> None: ...

    monkeypatch.setattr("sfumato.devices.state.Lock", NoLock)
    device = Device(sf.local.protocol("grr", domain=range(100), epsilon=1), budget=1)
    device._memory.known = Meeting(device._memory.known, 20)
    with ThreadPoolExecutor(2) as pool:
        assert sum(pool.map(_sent, [device] * 2, range(2))) == 2


def in_a_child(work: Callable[[], str]) -> str:
    """What a forked child found."""
    told = multiprocessing.get_context("fork").SimpleQueue()

    def child() -> None:
        try:
            told.put(work())
        except Exception as error:  # noqa: BLE001 - told to the parent, which compares
            told.put(str(error))

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(20)
    assert process.exitcode == 0
    return str(told.get())


def test_a_forked_child_has_no_budget_of_its_own() -> None:
    device = Device(sf.local.protocol("grr", domain=["a", "b"], epsilon=1))
    told = in_a_child(lambda: str(device.report("a")))
    assert told.startswith("this device was made in another process")
    assert 'Give it a file that both share, e.g. path="device.json"' in told
    assert device.report("a") == device.report("a")
    assert in_a_child(lambda: str(device.report("a"))) == told, "nor a memory"


def test_a_child_with_the_number_of_its_dead_parent_has_no_budget_either(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system gives numbers out again."""
    device, number = Device(sf.local.protocol("grr", domain=["a", "b"], epsilon=1)), os.getpid()

    def report() -> str:
        monkeypatch.setattr(os, "getpid", lambda: number)
        return str(device.report("a"))

    assert in_a_child(report).startswith("this device was made in another process")


def test_a_fork_that_python_is_not_told_of_has_no_budget_either(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device(sf.local.protocol("grr", domain=["a", "b"], epsilon=1))
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(UsageError, match="made in another process"):
        device.report("a")


def test_a_child_forked_in_the_middle_of_a_report_does_not_send_it_too() -> None:
    children: list[int] = []

    class Forking(SeededEntropy):
        def words(self, count: int) -> Any:
            children.append(os.fork())
            return super().words(count)

        def below(self, bound: int) -> int:
            return int(self.words(1)[0]) % bound

    device = Device(sf.local.protocol("grr", domain=["a", "b"], epsilon=1), entropy=Forking("forking"))
    try:
        device.report("a")
    except UsageError:
        os._exit(0)
    if 0 in children:
        os._exit(1)
    assert children
    assert all(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0 for child in children)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_budget_is_not_copied(copied: Callable[[Device], object]) -> None:
    device = Device(sf.local.protocol("grr", domain=["a", "b"], epsilon=1))
    with pytest.raises(UsageError, match="not copied or pickled: both would spend"):
        copied(device)
