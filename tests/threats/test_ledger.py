"""Attacks on the ledger (threats L1, L2, L3, L6, L7, L8), each beside a twin that they break."""

import json
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import BudgetExceeded, RequestConflict, UsageError
from sfumato.ledger.terms import Terms
from sfumato.ledger.totals import bounded
from sfumato.schema.numbers import exact
from tests.ledger.asking import open_instantly, open_session, question, write_table
from tests.ledger.chains import last
from tests.ledger.payments import newest, open_ledger, payment
from tests.ledger.traced import QUESTIONS
from tests.ledger.workers import ROOT, at_once

NO_STRACE = "strace is missing, and this check is nothing without it. Run: sh tests/system-packages"


def python(module: str, *arguments: object, before: tuple[str, ...] = ()) -> str:
    command = [*before, sys.executable, "-m", module, *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---- L1: a race for the last of the budget


def test_l1_eight_processes_are_granted_exactly_the_limit(tmp_path: Path) -> None:
    granted = [int(line) for line in at_once("charge", 8, tmp_path / "a.ledger", 60)]
    assert len(granted) == 8
    assert sum(granted) == 100
    ledger = open_ledger(tmp_path / "a.ledger")
    assert ledger.verify() == 101
    assert last(ledger.records.chain).content["total"] == "1"
    ledger.close()


def test_l1_a_total_in_a_file_grants_too_much(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("0")
    assert sum(map(int, at_once("charge-carelessly", 8, tmp_path / "a.json", 60))) > 100


# ---- L2: kill -9


@dataclass(frozen=True)
class Aftermath:
    kills: int
    shown: list[dict[str, Any]]
    uncharged: list[dict[str, Any]]
    seconds_to_reopen: float


def kill_workers(folder: Path, kills: int, role: str) -> Aftermath:
    killed = int(python("tests.ledger.killed", folder, kills, role))
    begin = time.perf_counter()
    session = open_instantly(folder)
    session.ask(question(99), spend=0.5)
    seconds = time.perf_counter() - begin
    session._ledger.verify()
    charges = session.history()
    session.close()
    entries, requests = {charge.entry for charge in charges}, {charge.request for charge in charges}
    # The last line of a killed worker may be half written: then it was not shown.
    lines = [line for path in folder.glob("*.shown") for line in path.read_text().splitlines() if line.endswith("}")]
    shown = [json.loads(line) for line in lines]
    uncharged = [one for one in shown if one["receipt"] not in entries and one["request"] not in requests]
    return Aftermath(killed, shown, uncharged, seconds)


@pytest.mark.slow
def test_l2_no_answer_outlives_its_charge(tmp_path: Path) -> None:
    after = kill_workers(tmp_path, 160, "pay-then-show")
    assert after.kills >= 150
    assert len(after.shown) >= 150
    assert after.uncharged == []
    assert after.seconds_to_reopen <= 2
    answers: dict[int, Any] = {}
    for one in after.shown:
        assert answers.setdefault(one["receipt"], one["rows"]) == one["rows"], "one charge bought two answers"


@pytest.mark.slow
def test_l2_a_charge_after_the_release_is_flagged(tmp_path: Path) -> None:
    assert kill_workers(tmp_path, 40, "show-then-pay").uncharged != []


# ---- L3: the charge is on the disk before anything is looked at or shown


def syscalls(folder: Path, *care: str) -> list[str]:
    """The order of events: 'log' (the ledger's log is written), 'sync' (and forced to disk), 'look', 'answer'."""
    if shutil.which("strace") is None:
        pytest.fail(NO_STRACE)
    write_table(folder)
    trace = folder / "trace"
    calls = "write,writev,pwrite64,pwritev,pwritev2,sendto,sendmsg,fsync,fdatasync,sync_file_range"
    python(
        "tests.ledger.traced", folder, *care, before=("strace", "-f", "-y", "-o", str(trace), "-e", f"trace={calls}")
    )
    events, unfinished = [], {}
    for line in trace.read_text(errors="replace").splitlines():
        process, _, call = line.partition(" ")
        call = call.strip()
        if call.endswith("<unfinished ...>"):
            unfinished[process] = call
        if re.match(r"(pwrite|write)\w*\(\d+<[^>]*people\.ledger-wal>", call):
            events.append("log")
        elif re.match(r'write\(2<[^>]*>, "look', call):
            events.append("look")
        elif re.match(r'write\(1<[^>]*>, "answer', call):
            events.append("answer")
        resumed = re.match(r"<\.\.\. \w+ resumed>(.*)", call)
        whole = unfinished.pop(process, "") + resumed[1] if resumed else call
        if re.match(r"f(data)?sync\(\d+<[^>]*people\.ledger-wal>.*= 0$", whole):
            events.append("sync")
    return events


def answers_in_order(events: list[str]) -> int:
    """How many answers came after 'log … sync, look, log … sync': pay, then look; keep, then show."""
    text = "".join({"log": "l", "sync": "s", "look": "L", "answer": "A"}[event] for event in events)
    return len(re.findall(r"l+s+Ll+s+(?=A)", text))


@pytest.mark.slow
def test_l3_the_charge_is_on_disk_before_the_first_byte_of_the_answer(tmp_path: Path) -> None:
    events = syscalls(tmp_path)
    assert events.count("answer") == QUESTIONS == 50
    assert answers_in_order(events) == QUESTIONS


@pytest.mark.slow
def test_l3_a_ledger_that_does_not_wait_for_the_disk_is_flagged(tmp_path: Path) -> None:
    events = syscalls(tmp_path, "careless")
    assert events.count("answer") == QUESTIONS
    assert answers_in_order(events) == 0


# ---- L6: one request id, one charge, one answer


def test_l6_a_hundred_retries_in_processes_and_threads_pay_once(tmp_path: Path) -> None:
    write_table(tmp_path)
    answers = [tuple(answer) for line in at_once("ask-the-same", 4, tmp_path, 25) for answer in json.loads(line)]
    assert len(answers) == 100
    assert len(set(answers)) == 1
    with open_session(tmp_path) as session:
        assert [charge.request for charge in session.history()] == ["id-17"]
        assert session.budget.spent.epsilon == 0.5


def test_l6_the_same_id_for_another_question_is_refused(tmp_path: Path) -> None:
    write_table(tmp_path)
    with open_session(tmp_path) as session, ThreadPoolExecutor(10) as pool:
        session.ask(question(1), spend=0.5, request="id-17")

        def conflicts(number: int) -> bool:
            spend, asked = (0.25, question(1)) if number % 2 else (0.5, question(2))
            with pytest.raises(RequestConflict):
                session.ask(asked, spend=spend, request="id-17")
            return True

        assert all(pool.map(conflicts, range(20)))
        assert len(session.history()) == 1


# ---- L7: the clock decides nothing


@pytest.mark.parametrize("years", [-10, 10])
def test_l7_ten_years_refill_nothing(tmp_path: Path, years: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = open_ledger(tmp_path / "a.ledger")
    ledger.charge(payment(0.75))
    shift, clock, calendar = years * 365.25 * 86400, time.time, time.gmtime
    monkeypatch.setattr(time, "time", lambda: clock() + shift)
    monkeypatch.setattr(time, "gmtime", lambda seconds=None: calendar(clock() + shift if seconds is None else seconds))
    with pytest.raises(BudgetExceeded):
        ledger.charge(payment(0.5, question=1))
    ledger.charge(payment(0.25, question=2))
    ledger.close()
    ledger = open_ledger(tmp_path / "a.ledger")
    now_and_then = [int(charge.when[:4]) for charge in ledger.history()]
    assert abs(now_and_then[1] - now_and_then[0]) in (9, 10, 11)
    assert ledger.balance("research").left.epsilon == 0
    assert ledger.verify() == 3
    ledger.close()


# ---- L8: exact sums, and no amount that is not a positive number


@pytest.mark.parametrize(("spend", "times"), [(0.1, 10), (Fraction(1, 3), 3), (Decimal("0.01"), 100)])
def test_l8_parts_add_up_to_exactly_one(tmp_path: Path, spend: Any, times: int) -> None:
    ledger = open_ledger(tmp_path / "a.ledger")
    for number in range(times):
        ledger.charge(payment(spend, question=number))
    assert last(ledger.records.chain).content["total"] == "1"
    balance = ledger.balance("research")
    assert (balance.spent.epsilon, balance.left.epsilon) == (1, 0)
    with pytest.raises(BudgetExceeded):
        ledger.charge(payment(1e-99, question=times))
    ledger.close()


def test_l8_sums_of_doubles_would_grant_too_much() -> None:
    """The twin: ten tenths as doubles leave room for more."""
    assert sum([0.1] * 10) < 1
    assert sum((exact(0.1, "spend") for _ in range(10)), Fraction(0)) == 1


def test_l8_a_hundred_thousand_random_charges_are_exact() -> None:
    random, terms = Random(8), Terms(sf.Budget(10**9))
    charges = [terms.price(exact(Decimal(random.randrange(1, 10**9)).scaleb(-7), "spend")).amount for _ in range(10**5)]
    total = Fraction(0)
    for charge in charges:
        total = bounded(total + charge)
    assert total == Fraction(sum(int(charge * 10**7) for charge in charges), 10**7)
    assert Fraction(repr(terms.spent(total).epsilon)) >= total >= Fraction(repr(terms.left(total).epsilon))


def test_l8_unrelated_fractions_are_rounded_up_by_next_to_nothing() -> None:
    random, total, exactly = Random(8), Fraction(0), Fraction(0)
    for _ in range(300):
        charge = Fraction(random.randrange(1, 10**6), random.randrange(10**6, 10**7))
        exactly += charge
        total = bounded(total + charge)
    assert 0 <= total - exactly < Fraction(300, 1 << 256)


BAD_AMOUNTS = [
    *(float("nan"), float("inf"), -float("inf"), -1, -0.0, 0, 0.0, 10**400, 1e-320, True, False, "0.5", "abc", None),
    *(Decimal("1e400"), Decimal("-1"), Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Fraction(-1, 3)),
    *(np.float64("nan"), np.float64("inf"), np.bool_(True), np.array([0.5]), np.array(0.5), np.str_("0.5")),
    *([0.5], (1, 2), {}, b"0.5", 0.5j, object()),
]


@pytest.mark.parametrize("amount", BAD_AMOUNTS, ids=lambda amount: f"{type(amount).__name__}-{str(amount)[:12]}")
def test_l8_no_bad_amount_is_accepted(tmp_path: Path, amount: Any) -> None:
    session = open_instantly(tmp_path)
    for ask in (session.ask, session.explain):
        with pytest.raises(UsageError):
            ask(question(1), spend=amount)
    with pytest.raises(UsageError):
        sf.Budget(epsilon=amount)
    assert session.history() == []
    session.close()


@pytest.mark.parametrize("delta", [-1e-6, 1, 2, float("nan"), True, "1e-6", None, np.array([0.1])], ids=repr)
def test_l8_no_bad_delta_is_accepted(delta: Any) -> None:
    with pytest.raises(UsageError):
        sf.Budget(epsilon=1, delta=delta)


@pytest.mark.parametrize(
    ("amount", "means"),
    [
        (0.1, Fraction(1, 10)),
        (1, Fraction(1)),
        (Decimal("0.30"), Fraction(3, 10)),
        (Fraction(1, 3), Fraction(1, 3)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.int64(2), Fraction(2)),
        (np.uint8(2), Fraction(2)),
    ],
    ids=repr,
)
def test_l8_numbers_mean_what_was_typed(tmp_path: Path, amount: Any, means: Fraction) -> None:
    session = open_instantly(tmp_path)
    session.ask(question(1), spend=amount)
    assert newest(session._ledger, "charge").content["total"] == str(means)
    assert sf.Budget(epsilon=amount).epsilon == means
    session.close()


@pytest.mark.parametrize("text", ["nan", "inf", "-1", "0", "1e400", "True", "abc", "None", "", "0,5", "1/3"])
def test_l8_the_shell_accepts_no_bad_amount(shell, policy: Path, text: str) -> None:
    asked = "SELECT COUNT(*) AS n FROM people"
    for command in ("ask", "explain"):
        code, out, err = shell(command, policy, asked, f"--spend={text}")
        assert (code, out) == (2, "")
        assert err.startswith(("UsageError: spend must ", "UsageError: the size of spend must "))
    code, out, err = shell("ledger", "analyst", policy, "press", f"--epsilon={text}")
    assert (code, out) == (2, "")
    assert json.loads(shell("history", policy, "--format", "json")[1]) == []
