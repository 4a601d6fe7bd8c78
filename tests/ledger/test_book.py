"""What entries may say one after the other, and what all of them say together."""

import json
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import LedgerDamaged
from sfumato.kernel.gate import Release
from sfumato.ledger.book import Book
from sfumato.ledger.chain import Chain
from sfumato.ledger.entry import GENESIS, Entry
from sfumato.ledger.reader import Reader
from sfumato.ledger.releases import kept_releases
from sfumato.ledger.verifying import verified
from tests.ledger.chains import append
from tests.ledger.payments import MIXED, in_child, open_ledger, payment, store
from tests.ledger.tampering import edit, forge

OPENED = {"table": "people", "unit": "row", "epsilon": "100", "delta": "1/1000"}
TOLD = {"when": "", "spend": "1/10", "digest": "d", "releases": [], "language": 2}


def charge(**changes: Any) -> dict[str, Any]:
    said = {
        "currency": "rho",
        "amount": "1/4",
        "total": "1/4",
        "analyst_total": "1/4",
        "delta": "0",
        "delta_total": "0",
    }
    return {**TOLD, **said, **changes}


def following(book: Book, kind: str, body: Any, **fields: Any) -> Entry:
    text = json.dumps(body) if isinstance(body, dict) else body
    columns = [fields.get(name) for name in ("analyst", "question", "request", "charge")]
    entry = Entry(book.seq + 1, kind, *columns, text, "")
    return Entry(book.seq + 1, kind, *columns, text, entry.expected_hash(book.hash))


def take(book: Book, kind: str, body: Any, **fields: Any) -> None:
    book.take(following(book, kind, body, **fields))


@pytest.fixture
def book() -> Book:
    """Entries: open, charge 2 with its release, charge 4 that failed, charge 5 without anything."""
    made = Book()
    take(made, "open", OPENED)
    take(made, "charge", charge(), analyst="ann", question="q", request="id-1")
    take(made, "release", {"values": []}, charge=2)
    take(made, "charge", charge(total="1/2"), analyst="bob", question="q", request="id-1")
    take(made, "failure", {"told": ["a", "b"]}, charge=4)
    last = charge(amount="1/8", total="5/8", analyst_total="3/8", delta="1/4000", delta_total="1/4000")
    take(made, "charge", last, analyst="ann", question="q")
    return made


def test_all_entries_together(book: Book) -> None:
    take(book, "analyst", {"epsilon": "1/2"}, analyst="ann")
    take(book, "limit", {"epsilon": "2", "delta": "1/1000"})
    assert book.seq == 8
    assert book.described == {"table": "people", "unit": "row"}
    assert (book.total, book.delta_total) == (Fraction(5, 8), Fraction(1, 4000))
    assert book.analyst_totals == {"ann": Fraction(3, 8), "bob": Fraction(1, 4)}
    assert book.analyst_limits == {"ann": Fraction(1, 2)}
    assert [limit.epsilon for limit in book.limits] == [100, 2]
    assert book.limit.epsilon == 2
    assert book.questions == {("ann", "q"): [2, 6], ("bob", "q"): [4]}
    assert book.requests == {("ann", "id-1"): (2, "q", False), ("bob", "id-1"): (4, "q", False)}
    assert (book.paid, book.releases, book.failures) == ({2, 4, 6}, {2: 3}, {4: 5})


def test_a_charge_that_failed_for_one_and_was_answered_for_another_at_once(book: Book) -> None:
    take(book, "release", {"values": []}, charge=4)
    assert book.releases[4] == 7


def test_entries_from_before_keys_could_be_discovered_count_as_they_did(book: Book) -> None:
    old = TOLD | {"currency": "rho", "amount": "1/8", "total": "3/4", "analyst_total": "1/2"}
    take(book, "charge", old, analyst="ann", question="q")
    assert (book.total, book.delta_total) == (Fraction(3, 4), Fraction(1, 4000))


ANN = {"analyst": "ann", "question": "q"}
NEXT = charge(amount="1/8", total="3/4", analyst_total="1/2", delta_total="1/4000")
SENSELESS = {
    "opened-again": ("open", OPENED, {}, "opens it"),
    "nothing-charged": (
        "charge",
        NEXT | {"amount": "0", "total": "5/8", "analyst_total": "3/8"},
        ANN,
        "charges nothing",
    ),
    "given-back": ("charge", NEXT | {"amount": "-1/8", "total": "1/2", "analyst_total": "1/4"}, ANN, "charges nothing"),
    "delta-given-back": ("charge", NEXT | {"delta": "-1/4000", "delta_total": "0"}, ANN, "charges nothing"),
    "another-currency": ("charge", NEXT | {"currency": "epsilon"}, ANN, "another currency"),
    "total": ("charge", NEXT | {"total": "1/8"}, ANN, "not the sum"),
    "total-written-otherwise": ("charge", NEXT | {"total": "6/8"}, ANN, "not the sum"),
    "analyst-total": ("charge", NEXT | {"analyst_total": "3/8"}, ANN, "not the sum"),
    "delta-total": ("charge", NEXT | {"delta_total": "0"}, ANN, "not the sum"),
    "somebody-elses-total": ("charge", NEXT, {"analyst": "bob", "question": "q"}, "not the sum"),
    "a-request-again": ("charge", NEXT, ANN | {"request": "id-1"}, "a request id once more"),
    "no-amount": ("charge", {name: NEXT[name] for name in NEXT if name != "amount"}, ANN, "lacks"),
    "an-amount-of-nonsense": ("charge", NEXT | {"amount": "much"}, ANN, "lacks"),
    "an-amount-over-nothing": ("charge", NEXT | {"amount": "1/0"}, ANN, "lacks"),
    "an-amount-that-is-a-double": ("charge", NEXT | {"amount": 0.125}, ANN, "lacks"),
    "an-amount-that-is-a-list": ("charge", NEXT | {"amount": []}, ANN, "lacks"),
    "nobodys": ("charge", NEXT, {"question": "q"}, "lacks"),
    "bytes-for-a-name": ("charge", NEXT, {"analyst": b"ann", "question": "q"}, "lacks"),
    "no-question": ("charge", NEXT, {"analyst": "ann"}, "lacks"),
    "bytes-for-a-request": ("charge", NEXT, ANN | {"request": b"id-2"}, "lacks"),
    "bytes-for-whose-limit": ("limit", {"epsilon": "9", "delta": "1/1000"}, {"analyst": b"ann"}, "lacks"),
    "a-second-release": ("release", {"values": []}, {"charge": 2}, "a second answer of one charge"),
    "a-release-of-nothing": ("release", {"values": []}, {}, "nothing was charged for"),
    "a-release-of-a-release": ("release", {"values": []}, {"charge": 3}, "nothing was charged for"),
    "a-release-of-itself": ("release", {"values": []}, {"charge": 7}, "nothing was charged for"),
    "a-release-of-one-to-come": ("release", {"values": []}, {"charge": 8}, "nothing was charged for"),
    "a-second-failure": ("failure", {"told": []}, {"charge": 4}, "was answered"),
    "a-failure-after-a-release": ("failure", {"told": []}, {"charge": 2}, "was answered"),
    "a-failure-of-nothing": ("failure", {"told": []}, {"charge": 1}, "nothing was charged for"),
    "the-currency-changed": ("limit", {"epsilon": "2", "delta": "0"}, {}, "the currency"),
    "a-limit-of-nothing": ("limit", {"epsilon": "0", "delta": "1/1000"}, {}, "lacks"),
    "a-limit-without-delta": ("limit", {"epsilon": "1"}, {}, "lacks"),
    "an-analyst-limited-to-nothing": ("analyst", {"epsilon": "0"}, {"analyst": "ann"}, "to nothing"),
    "nobody-limited": ("analyst", {"epsilon": "1"}, {}, "lacks"),
    "an-exponent": ("charge", NEXT | {"amount": "1e-999999999"}, ANN, "lacks"),
    "a-large-exponent": ("charge", NEXT | {"spend": "1e5000"}, ANN, "lacks"),
    "a-spend-without-end": ("charge", NEXT | {"spend": "9" * 400}, ANN, "lacks"),
    "a-spend-over-nothing": ("charge", NEXT | {"spend": "1/0"}, ANN, "lacks"),
    "a-spend-that-is-a-number": ("charge", NEXT | {"spend": 1}, ANN, "lacks"),
    "blanks-around-an-amount": ("charge", NEXT | {"amount": " 1/8 "}, ANN, "lacks"),
    "lines-in-an-amount": ("charge", NEXT | {"amount": "1/8\n"}, ANN, "lacks"),
    "other-digits": ("charge", NEXT | {"amount": "\u0661/8"}, ANN, "lacks"),
    "a-day-that-is-a-list": ("charge", NEXT | {"when": []}, ANN, "lacks"),
    "a-plan-that-is-a-number": ("charge", NEXT | {"digest": 5}, ANN, "lacks"),
    "releases-that-are-a-text": ("charge", NEXT | {"releases": "abc"}, ANN, "lacks"),
    "releases-that-are-numbers": ("charge", NEXT | {"releases": [1, 2]}, ANN, "lacks"),
    "releases-without-mechanism": ("charge", NEXT | {"releases": [{"scale": "1"}]}, ANN, "lacks"),
    "a-mechanism-that-is-a-list": ("charge", NEXT | {"releases": [{"mechanism": ["x"]}]}, ANN, "lacks"),
    "a-huge-limit": ("limit", {"epsilon": "1" + "0" * 400, "delta": "1/1000"}, {}, "lacks"),
    "a-limit-with-an-exponent": ("limit", {"epsilon": "1e5000", "delta": "1/1000"}, {}, "lacks"),
    "a-huge-limit-of-an-analyst": ("analyst", {"epsilon": "1" + "0" * 400}, {"analyst": "ann"}, "lacks"),
    "an-exponent-for-an-analyst": ("analyst", {"epsilon": "1e-999999999"}, {"analyst": "ann"}, "lacks"),
    "above-the-limit": (
        "charge",
        NEXT | {"amount": "10000", "total": "80005/8", "analyst_total": "80003/8"},
        ANN,
        "charges more than was left",
    ),
    "another-kind": ("refund", {}, {}, "unknown kind"),
    "no-kind": (None, {}, {}, "unknown kind"),
    "no-json": ("charge", "rubbish", ANN, "does not match"),
    "a-number": ("charge", 5, ANN, "does not match"),
    "half-a-number": ("charge", 5.5, ANN, "does not match"),
    "bytes": ("charge", json.dumps(NEXT).encode(), ANN, "does not match"),
    "nothing": ("charge", None, ANN, "does not match"),
    "no-object": ("charge", "[1]", ANN, "does not match"),
    "deep": ("charge", "[" * 10**5, ANN, "does not match"),
}


@pytest.mark.parametrize("name", SENSELESS)
def test_what_no_ledger_writes_is_refused_though_its_hash_is_right(book: Book, name: str) -> None:
    kind, body, fields, words = SENSELESS[name]
    with pytest.raises(LedgerDamaged, match=f"entry 7 of the ledger .*{words}"):
        take(book, kind, body, **fields)


def test_the_rules_hold_nothing_back_that_a_ledger_writes(book: Book) -> None:
    """Else the cases above would be refused whatever they say."""
    take(book, "charge", NEXT | {"releases": [{"mechanism": "m", "scale": "1"}]}, **ANN, request="id-2")
    take(book, "release", {"values": []}, charge=6)
    take(book, "failure", {"told": []}, charge=7)


def test_numbers_too_large_to_be_built_are_refused_at_once(book: Book) -> None:
    begin = time.perf_counter()
    for text in ("1e-999999999", "1e999999999", "9" * 10**6, "1/" + "9" * 10**6):
        with pytest.raises(LedgerDamaged, match="lacks what it should say"):
            take(book, "charge", NEXT | {"amount": text}, **ANN)
    assert time.perf_counter() - begin < 5


def test_a_limit_lowered_below_what_is_spent_leaves_old_charges_alone(book: Book) -> None:
    take(book, "limit", {"epsilon": "1/100", "delta": "1/1000"})
    assert not book.keeps_to(book.limit, "ann")
    with pytest.raises(LedgerDamaged, match="entry 8 of the ledger charges more than was left"):
        take(book, "charge", NEXT, **ANN)


def test_a_ledger_begins_with_what_it_was_opened_for() -> None:
    with pytest.raises(LedgerDamaged, match="entry 1 of the ledger opens it, or does not"):
        take(Book(), "limit", {"epsilon": "1", "delta": "0"})
    with pytest.raises(LedgerDamaged, match="entry 1 of the ledger lacks"):
        take(Book(), "open", {"epsilon": "1", "delta": "0"})


@pytest.mark.parametrize("change", [{"seq": 8}, {"seq": 6}, {"hash": GENESIS}, {"analyst": "bob"}, {"body": "{}"}])
def test_a_number_or_hash_that_does_not_follow_is_refused(book: Book, change: dict[str, Any]) -> None:
    entry = following(book, "charge", NEXT, **ANN)
    fields = {name: getattr(entry, name) for name in Entry.__slots__}
    with pytest.raises(LedgerDamaged, match="entry 7 of the ledger does not match its hash"):
        book.take(Entry(**{**fields, **change}))


def test_a_book_knows_its_entries_by_their_hashes(book: Book) -> None:
    entry = following(book, "charge", NEXT, **ANN)
    assert not book.proves(entry)
    before = book.hash
    book.take(entry)
    assert book.proves(entry)
    assert book.holds(6, before)
    assert book.holds(7, entry.hash)
    assert book.holds(0, GENESIS)
    assert not book.holds(7, before)
    assert not book.holds(8, entry.hash)
    fields = {name: getattr(entry, name) for name in Entry.__slots__}
    for change in ({"hash": before}, {"seq": 6}, {"body": "{}"}, {"charge": 1}):
        assert not book.proves(Entry(**{**fields, **change}))


# ---- reading on


@pytest.fixture
def chain(tmp_path: Path) -> Iterator[Chain]:
    ledger = open_ledger(tmp_path / "a.ledger")
    for question in range(3):
        store(ledger, ledger.charge(payment(0.1, question=question)).entry)
    yield ledger.records.chain
    ledger.close()


def test_what_was_read_is_not_read_again(chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, taken = Reader(chain), []
    take_one = Book.take
    monkeypatch.setattr(Book, "take", lambda book, entry: (taken.append(entry.seq), take_one(book, entry)))
    first = reader.read()
    assert taken == [1, 2, 3, 4, 5, 6, 7]
    assert reader.read() is first
    with chain.transaction():
        append(chain, "analyst", {"epsilon": "1"}, analyst="press")
    assert reader.read().seq == 8
    assert taken == [1, 2, 3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize("many", [1, 2, 3, 7, 8])
def test_many_entries_come_in_batches(chain: Chain, many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.ledger.chain.ENTRIES_AT_ONCE", many)
    assert [entry.seq for entry in chain.entries()] == [1, 2, 3, 4, 5, 6, 7]
    assert [entry.seq for entry in chain.entries(5)] == [5, 6, 7]


def test_a_book_is_out_of_reach_while_it_grows(chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither an error in the middle nor a fork meanwhile leaves half an entry in it."""
    reader = Reader(chain)
    reader.read()
    with chain.transaction():
        append(chain, "analyst", {"epsilon": "1"}, analyst="press")

    def half(book: Book, entry: Entry) -> None:
        assert reader._book is None
        book.total += 1
        raise KeyboardInterrupt

    with monkeypatch.context() as interrupted:
        interrupted.setattr(Book, "take", half)
        with pytest.raises(KeyboardInterrupt):
            reader.read()
    assert (reader.read().seq, reader.read().total) == (8, Fraction(3, 10))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_reads_on_where_its_parent_was(chain: Chain) -> None:
    reader = Reader(chain)
    reader.read()

    def child() -> None:
        with chain.transaction():
            append(chain, "analyst", {"epsilon": "1"}, analyst="press")
        assert reader.read().seq == 8

    assert in_child(child) == 0
    assert reader.read().analyst_limits == {"press": Fraction(1)}


CHANGED = {
    "removed": "DELETE FROM entry WHERE seq = 7",
    "all-removed": "DELETE FROM entry",
    "changed": "UPDATE entry SET body = '{}' WHERE seq = 7",
    "another-hash": "UPDATE entry SET hash = upper(hash) WHERE seq = 7",
    "moved": "UPDATE entry SET seq = 8 WHERE seq = 7",
}


@pytest.mark.parametrize("name", CHANGED)
def test_what_was_read_once_must_stay(chain: Chain, name: str) -> None:
    reader = Reader(chain)
    reader.read()
    edit(chain.path, CHANGED[name])
    for _ in range(2):
        with pytest.raises(LedgerDamaged):
            reader.read()


def test_an_older_ledger_that_is_sound_is_refused_by_whoever_read_the_newer(chain: Chain) -> None:
    reader = Reader(chain)
    reader.read()
    edit(chain.path, "DELETE FROM entry WHERE seq > 5")
    assert Reader(chain).read().seq == 5
    for _ in range(2):
        with pytest.raises(LedgerDamaged, match="entry 7 of the ledger is no longer the one that was read"):
            reader.read()


# ---- verifying


def test_answers_within_answers_are_read_no_deeper_than_they_are_written(chain: Chain) -> None:
    body = '{"values": [], "when": "", "others": [' * 200 + '{"values": []}' + "]}" * 200
    kept = kept_releases(Entry(8, "release", None, None, None, 2, body, ""), b"")
    assert kept == (Release(2, ()), Release(2, ()))


def test_stored_answers_and_failures_must_be_readable(chain: Chain) -> None:
    assert verified(Reader(chain)).seq == 7
    said = chain.at(6).content | {"total": "2/5", "analyst_total": "2/5"}
    dated = {"when": "", "values": []}
    for body in (
        {},
        {"when": ""},
        dated | {"values": 7},
        dated | {"values": [["x"]]},
        dated | {"others": [1]},
        {"values": []},
        dated | {"when": 7},
    ):
        with chain.transaction():
            append(chain, "charge", said, analyst="research", question="q")
            append(chain, "release", body, charge=8)
        with pytest.raises(LedgerDamaged, match="entry 9 of the ledger"):
            verified(Reader(chain))
        edit(chain.path, "DELETE FROM entry WHERE seq > 7")


@pytest.mark.parametrize("told", [7, [], ["a"], ["a", 7], {"a": "b"}])
def test_a_failure_says_two_sentences(tmp_path: Path, told: Any) -> None:
    path = tmp_path / "a.ledger"
    ledger = open_ledger(path)
    ledger.charge(payment())
    ledger.close()
    forge(path, "failure", {"told": told}, charge=2)
    ledger = open_ledger(path)
    for act in (ledger.verify, lambda: ledger.charge(payment())):
        with pytest.raises(LedgerDamaged, match="entry 3 of the ledger"):
            act()
    ledger.close()


@pytest.mark.parametrize("budget", [None, MIXED])
def test_a_charge_above_a_limit_of_its_time_is_noticed(tmp_path: Path, budget: Any) -> None:
    """The limit in force, that of the analyst, and that for keys, each of them alone."""
    given = {} if budget is None else {"budget": budget}
    path = tmp_path / "a.ledger"
    ledger = open_ledger(path, **given)
    ledger.limit_analyst("press", Fraction(1, 2))
    ledger.charge(payment(0.5, analyst="press", **given))
    ledger.charge(payment(0.5, question=1, **given))
    assert ledger.verify() == 4
    last = ledger.records.chain.at(4).content
    amount = Fraction(last["amount"])
    sums = {"total": str(3 * amount), "analyst_total": str(2 * amount), "amount": str(amount)}
    over = [last | sums | {"delta": "1", "delta_total": "1"}]
    if budget is None:
        over.append(last | sums)
    over.append(last | {"amount": "1/10000", "total": str(2 * amount + Fraction(1, 10000))})
    over[-1]["analyst_total"] = str(amount + Fraction(1, 10000))
    for said, analyst in zip(over, ["research"] * (len(over) - 1) + ["press"], strict=True):
        forge(path, "charge", said, analyst=analyst, question="q")
        with pytest.raises(LedgerDamaged, match="entry 5 of the ledger charges more than was left"):
            verified(Reader(ledger.records.chain))
        edit(path, "DELETE FROM entry WHERE seq = 5")
    assert ledger.verify() == 4
    ledger.close()
