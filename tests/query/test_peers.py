"""What people write for other tools: answered, or refused with the right reason and what works instead."""

import re
import tomllib
from fractions import Fraction
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.ledger.terms import Terms
from sfumato.query.planned import planned
from tests.query.peers import TABLES

TERMS = Terms(sf.Budget(3, 1e-6))
ASKED = tomllib.loads(Path(__file__).with_name("peers.toml").read_text(encoding="utf-8"))
CASES = [(table, case["question"], case.get("refused", "")) for table, cases in ASKED.items() for case in cases]


def walk(table: str, question: str) -> None:
    planned(question, TABLES[table], TERMS.price(Fraction(1)), TERMS.for_keys(None))


@pytest.mark.parametrize(("table", "question", "refused"), CASES)
def test_each_is_answered_or_refused_with_the_cure(table: str, question: str, refused: str) -> None:
    if refused:
        with pytest.raises(Refused, match=re.escape(refused)):
            walk(table, question)
    else:
        walk(table, question)


def test_two_thirds_are_answered() -> None:
    assert len(CASES) == 61
    assert sum(not refused for _, _, refused in CASES) >= 41
