"""Processes that work at the same moment: python -m tests.ledger.workers ROLE PROCESSES PATH …

Everything is imported once; then the processes are forked, made ready, and let go together. Each prints one line.
"""

import json
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NoReturn

from sfumato.errors import BudgetExceeded, LedgerDamaged
from sfumato.ledger.chain import Chain
from tests.learn.fitting import fit
from tests.ledger.asking import open_session, question
from tests.ledger.payments import open_ledger, payment
from tests.session.drawing import draw_all, opened

ROOT = Path(__file__).parents[2]
Work = Callable[[], object]


def at_once(role: str, processes: int, *arguments: object) -> list[str]:
    """What each of the processes printed."""
    command = [sys.executable, "-m", "tests.ledger.workers", role, str(processes), *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def main(role: str, processes: str, *arguments: str) -> None:
    ready, say_ready = os.pipe()
    gate, keep_gate = os.pipe()
    children = []
    for number in range(int(processes)):
        children.append(os.fork())
        if children[-1] == 0:
            os.close(keep_gate)
            run_child(lambda number=number: ROLES[role](number, *arguments), say_ready, gate)
    for _ in children:
        os.read(ready, 1)
    os.close(keep_gate)
    statuses = [os.waitpid(child, 0)[1] for child in children]
    sys.exit(any(statuses))


def run_child(prepare: Callable[[], Work], say_ready: int, gate: int) -> NoReturn:
    status = 1
    try:
        work = prepare()
        os.write(say_ready, b".")
        os.read(gate, 1)
        os.write(1, f"{work()}\n".encode())
        status = 0
    finally:
        if status:
            traceback.print_exc()
            os.write(say_ready, b"x")
        os._exit(status)


def open_one(number: int, path: str) -> Work:
    """The identity of the ledger that all of them try to start; each hesitates before it writes."""
    transaction = Chain.transaction

    def hesitating(chain: Chain) -> object:
        time.sleep(0.02)
        return transaction(chain)

    Chain.transaction = hesitating
    return lambda: open_ledger(Path(path)).records.chain.at(1).content["id"]


def charge_many(number: int, path: str, count: str) -> Work:
    """How many charges of 1/100 were granted."""
    ledger = open_ledger(Path(path))
    payments = [payment(0.01, question=1000 * number + question) for question in range(int(count))]

    def work() -> int:
        granted = 0
        for each in payments:
            try:
                ledger.charge(each)
                granted += 1
            except BudgetExceeded:
                continue
        return granted

    return work


def charge_copies(number: int, path: str, other: str, anchor: str) -> Work:
    """How many of ten charges of 1/10 were granted on one of two copies of a ledger."""
    ledger = open_ledger(Path((path, other)[number]), anchor=Path(anchor))

    def work() -> int:
        granted = 0
        for each in range(10):
            try:
                ledger.charge(payment(0.1, question=100 * (number + 1) + each))
                granted += 1
            except (BudgetExceeded, LedgerDamaged):
                continue
        return granted

    return work


def charge_carelessly(number: int, path: str, count: str) -> Work:
    """The broken twin: a total in a JSON file, read, added to and written back."""
    file = Path(path)

    def work() -> int:
        granted = 0
        for _ in range(int(count)):
            total = json.loads(file.read_text())
            if total < 100:
                time.sleep(0.001)
                unfinished = file.with_suffix(f".{number}")
                unfinished.write_text(json.dumps(total + 1))
                unfinished.rename(file)
                granted += 1
        return granted

    return work


def ask_the_same(number: int, folder: str, threads: str) -> Work:
    """What each thread was answered under one request id."""
    session = open_session(Path(folder))

    def ask(_: int) -> tuple[int, str]:
        answer = session.ask(question(1), spend=0.5, request="id-17")
        return answer.receipt, str(answer.rows)

    def work() -> str:
        with ThreadPoolExecutor(int(threads)) as pool:
            return json.dumps(list(pool.map(ask, range(int(threads)))))

    return work


def fit_the_same(number: int, folder: str, name: str) -> Work:
    """The model that a learner finds, and what it cost in all."""

    def work() -> str:
        found = fit(Path(folder), name)
        return json.dumps({"model": found["model"], "spent": found["spent"]})

    return work


def draw_the_same(number: int, folder: str) -> Work:
    """What each process was released of one purpose, and what was charged for it."""
    session = opened(Path(folder))

    def work() -> str:
        found = draw_all(session, 1)
        return json.dumps({"found": found, "spent": session.budget.spent.epsilon, "charges": len(session.history())})

    return work


ROLES: dict[str, Callable[..., Work]] = {
    "open": open_one,
    "charge": charge_many,
    "charge-copies": charge_copies,
    "charge-carelessly": charge_carelessly,
    "ask-the-same": ask_the_same,
    "draw-the-same": draw_the_same,
    "fit-the-same": fit_the_same,
}

if __name__ == "__main__":
    main(*sys.argv[1:])
