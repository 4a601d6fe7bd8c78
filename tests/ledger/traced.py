"""Asks 50 questions under strace: python -m tests.ledger.traced FOLDER [careless]

Says "look" on standard error whenever the engine looks at the data, and writes each answer to standard output.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from sfumato.engines.protocol import Query
from sfumato.ledger import chain
from tests.ledger.asking import open_session, question

QUESTIONS = 50


def main(folder: str, care: str = "") -> None:
    if care == "careless":
        chain.SETTINGS = (*chain.SETTINGS, "PRAGMA synchronous = OFF")
    session = open_session(Path(folder))
    rows = session._engine.rows

    def looking(queries: Sequence[Query], version: str) -> object:
        os.write(2, b"look\n")
        return rows(queries, version)

    session._engine.rows = looking
    for number in range(QUESTIONS):
        answer = session.ask(question(number), spend=0.5)
        os.write(1, f"answer {number}: {answer.rows}\n".encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
