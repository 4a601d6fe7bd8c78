"""Entries of a ledger changed, removed or made up by somebody who may write its file and not its anchor.

Each is done to a real file; then a real session asks. It must be refused, or give neither budget nor fresh noise; and
verifying must notice. The twin is the same file with the checks taken out that stop it.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import LedgerDamaged
from tests.ledger.attacked import (
    assert_noticed,
    gained,
    ledger_of,
    session_on,
    spent,
    without_anchor,
    without_hashes,
    without_marks,
    without_rules,
)
from tests.ledger.tampering import change_schema, edit, forge, opened, rechain, rows

Tamper = Callable[[Path], object]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return spent(tmp_path)


@dataclass(frozen=True)
class Attack:
    """`removed` are the checks without which it succeeds."""

    name: str
    tamper: Tamper
    removed: tuple[Callable[[pytest.MonkeyPatch], None], ...]
    gain: frozenset[str] = frozenset({"budget"})


def make_a_charge_smaller(path: Path) -> None:
    content = path.read_bytes()
    for old, new in ((b'"amount":"1/2"', b'"amount":"1/9"'), (b'"total":"9/10"', b'"total":"1/10"')):
        content = content.replace(old, new)
    content = content.replace(b'"total":"1","', b'"total":"0","')
    path.write_bytes(content)


def forget_the_last_charge(path: Path) -> None:
    edit(path, "DELETE FROM entry WHERE seq > 4")


def forget_a_charge_in_the_middle(path: Path) -> None:
    """Everything after it is written anew, and every hash is right."""
    edit(
        path,
        "DELETE FROM entry WHERE seq IN (5, 6)",
        "UPDATE entry SET body = json_set(body, '$.total', '3/5') WHERE seq = 7",
        "UPDATE entry SET charge = 5 WHERE seq = 8",
    )
    rechain(path)


def put_an_older_table_in_its_place(path: Path) -> None:
    """Its tree is in the file already; only the schema's note of where it begins changes."""
    with opened(path) as connection:
        (text,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'entry'").fetchone()
        connection.execute(text.replace("TABLE entry", "TABLE older"))
        connection.execute("INSERT INTO older SELECT * FROM entry NOT INDEXED WHERE seq <= 4")
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'older'").fetchone()
    change_schema(path, "UPDATE sqlite_master SET rootpage = ? WHERE name = 'entry'", root)
    change_schema(path, "DELETE FROM sqlite_master WHERE name = 'older'")
    with opened(path) as connection:
        connection.execute("REINDEX")


def say(**changes: Any) -> dict[str, Any]:
    """What a charge says, with changes."""
    whole = {"when": "", "currency": "epsilon", "spend": "1/10", "delta": "0", "delta_total": "0", "digest": "d"}
    return {**whole, "releases": [], "amount": "1/10", "total": "11/10", "analyst_total": "1", **changes}


def charged(**changes: Any) -> Tamper:
    return lambda path: forge(path, "charge", say(**changes), analyst="mallory", question="q")


def give_back(path: Path) -> None:
    charged(amount="-1/2", total="1/2", analyst_total="2/5")(path)


def move_the_totals(path: Path) -> None:
    """A charge is in the file, and the total after it is that of another day."""
    charged(total="0", analyst_total="0")(path)


def limit_an_analyst_to_less_than_nothing(path: Path) -> None:
    forge(path, "analyst", {"when": "", "epsilon": "-1"}, analyst="press")


def change_the_currency(path: Path) -> None:
    forge(path, "limit", {"when": "", "epsilon": "1", "delta": "1/1000000"})


def number_two_rows_alike(path: Path) -> None:
    """The second charge takes the number of the release before it; its own number is nobody's."""
    content = bytearray(path.read_bytes())
    with opened(path) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'entry'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    page = (root - 1) * size
    if content[page] == 5:  # an inner page: its first child
        cell = page + int.from_bytes(content[page + 12 : page + 14], "big")
        page = (int.from_bytes(content[cell : cell + 4], "big") - 1) * size
    assert content[page] == 13
    cell = page + int.from_bytes(content[page + 8 + 2 * 4 : page + 10 + 2 * 4], "big")
    number = cell + next(place for place in range(9) if content[cell + place] < 128) + 1  # after the length
    assert content[number] == 5
    content[number] = 4
    path.write_bytes(content)


def open_once_more(path: Path) -> None:
    forge(path, "open", rows(path)[0].content)


def keep_another_release(path: Path) -> None:
    """Both indexes look away."""
    with opened(path) as connection:
        connection.execute("DROP INDEX one_release_a_charge")
    forge(path, "release", {"when": "", "values": [["7"]]}, charge=3)
    with opened(path) as connection:
        connection.execute("CREATE INDEX one_release_a_charge ON entry (charge) WHERE kind = 'release'")
    unique = "CREATE UNIQUE INDEX one_release_a_charge ON entry (charge) WHERE kind = 'release'"
    change_schema(path, "UPDATE sqlite_master SET sql = ? WHERE name = 'one_release_a_charge'", unique)


def keep_a_release_for_a_charge_to_come(path: Path) -> None:
    forge(path, "release", {"when": "", "values": [["7"]]}, charge=10)


def fail_what_was_answered(path: Path) -> None:
    forge(path, "failure", {"when": "", "told": ["it failed.", ""]}, charge=3)


def say_what_nobody_knows(path: Path) -> None:
    forge(path, "refund", {"when": "", "amount": "1"}, analyst="mallory", charge=3)


NOTHING: frozenset[str] = frozenset()
ATTACKS = (
    Attack("a-charge-made-smaller", make_a_charge_smaller, (without_hashes, without_rules, without_marks)),
    Attack("the-last-charges-forgotten", forget_the_last_charge, (without_anchor,)),
    Attack("a-charge-forgotten-and-all-hashes-made-anew", forget_a_charge_in_the_middle, (without_anchor,)),
    Attack("an-older-table-in-its-place", put_an_older_table_in_its_place, (without_anchor,)),
    Attack("budget-given-back", give_back, (without_rules,)),
    Attack("a-second-release", keep_another_release, (without_rules, without_marks), frozenset({"noise"})),
    Attack("a-total-of-another-day", move_the_totals, (without_rules,), NOTHING),
    Attack("a-charge-above-the-limit", charged(), (without_rules,), NOTHING),
    Attack("a-charge-in-another-currency", charged(currency="rho"), (without_rules,), NOTHING),
    Attack("a-release-for-a-charge-to-come", keep_a_release_for_a_charge_to_come, (without_rules,), NOTHING),
    Attack("a-failure-of-what-was-answered", fail_what_was_answered, (without_rules,), NOTHING),
    Attack("opened-once-more", open_once_more, (without_rules,), NOTHING),
    Attack("a-limit-below-nothing", limit_an_analyst_to_less_than_nothing, (without_rules,), NOTHING),
    Attack("another-kind-of-entry", say_what_nobody_knows, (without_rules,), NOTHING),
)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_entries_that_no_ledger_wrote_give_nothing_and_are_noticed(
    folder: Path, attack: Attack, monkeypatch: pytest.MonkeyPatch
) -> None:
    attack.tamper(ledger_of(folder))
    got: set[str] = set()
    with suppress(LedgerDamaged):
        gained(folder, got)
    assert got == set()
    assert_noticed(folder)
    with monkeypatch.context() as twin:
        for remove in attack.removed:
            remove(twin)
        with session_on(folder) as session:
            if not attack.gain:
                assert session._ledger.verify() >= 8, "nothing else would notice"
        assert gained(folder) == attack.gain


@pytest.mark.parametrize("tamper", [change_the_currency, number_two_rows_alike])
def test_what_no_single_check_stops_is_refused(folder: Path, tamper: Tamper) -> None:
    tamper(ledger_of(folder))
    for act in (gained, lambda folder: session_on(folder)._ledger.verify()):
        with pytest.raises(LedgerDamaged):
            act(folder)
