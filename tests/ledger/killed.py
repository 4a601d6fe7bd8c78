"""Workers that ask, show each answer, and are killed at random moments: python -m tests.ledger.killed FOLDER KILLS ROLE

A worker shows an answer by appending it to a file of its own and forcing that to the disk.
"""

import json
import os
import select
import signal
import sys
import time
from itertools import count
from pathlib import Path
from random import SystemRandom

from sfumato.door import written
from sfumato.engines.arrange import look
from sfumato.kernel.gate import Receipt, release
from sfumato.ledger.payment import Payment
from tests.ledger.asking import append_durably, open_instantly, question

WORKERS = 4
LONGEST_LIFE = 0.02  # seconds after a worker's first answer was paid for or shown


def main(folder: str, kills: str, role: str) -> None:
    random, alive, killed = SystemRandom(), {}, 0
    while killed < int(kills):
        while len(alive) < WORKERS:
            process, ready = start(Path(folder), role)
            alive[process] = ready
        victim = next(iter(alive))
        select.select([alive[victim]], [], [])
        time.sleep(random.uniform(0, LONGEST_LIFE))
        os.kill(victim, signal.SIGKILL)
        _, status = os.waitpid(victim, 0)
        os.close(alive.pop(victim))
        killed += os.WIFSIGNALED(status)
    for process in alive:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    print(killed)


def start(folder: Path, role: str) -> tuple[int, int]:
    ready, say_ready = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            ROLES[role](folder, say_ready)
        finally:
            os._exit(1)
    os.close(say_ready)
    return process, ready


def pay_then_show(folder: Path, say_ready: int) -> None:
    """Half of the questions are fresh, half were perhaps paid for by a worker that is dead now."""
    session, shown = open_instantly(folder), folder / f"{os.getpid()}.shown"
    for number in count():
        request = f"{os.getpid()}-{number}"
        answer = session.ask(question(number % 20), spend=0.5, fresh=number % 2 == 0, request=request)
        append_durably(shown, json.dumps({"receipt": answer.receipt, "request": request, "rows": answer.rows}))
        os.write(say_ready, b".")


def show_then_pay(folder: Path, say_ready: int) -> None:
    """The broken twin."""
    session, shown = open_instantly(folder), folder / f"{os.getpid()}.shown"
    for number in count():
        request = f"{os.getpid()}-{number}"
        prepared = session._prepare(question(number), 0.5)
        certified = prepared.planned[0].certified
        integers = look(session._engine, certified.countings, written(certified, session._engine.dialect))
        released = release(certified, Receipt(0, certified.digest), integers, session._entropy)
        append_durably(shown, json.dumps({"receipt": None, "request": request, "rows": released.values}))
        os.write(say_ready, b".")
        session._ledger.charge(Payment((certified,), "analyst", prepared.spend, "v1", prepared.asking, request=request))


ROLES = {"pay-then-show": pay_then_show, "show-then-pay": show_then_pay}

if __name__ == "__main__":
    main(*sys.argv[1:])
