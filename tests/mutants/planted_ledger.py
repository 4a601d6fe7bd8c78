"""Bugs in the door, and in what the ledger keeps of it: draws, interruptions, the key, and limits that change."""

from tests.mutants.mutant import Mutant

FAILURES, DOOR = "tests/session/test_failures.py", "tests/session/test_door.py"
ENVELOPES, KEY, IN_FORCE = (f"tests/ledger/test_{name}.py" for name in ("envelopes", "data_key", "in_force"))
OLD, ANCHOR = "tests/ledger/test_old_ledgers.py", "tests/ledger/test_anchor.py"

OF_THE_LEDGER = (
    # ---- the door
    Mutant(
        "looked-at-before-it-is-paid",
        "door.py",
        "    stored = ledger.found(paid)\n",
        "    stored = ledger.found(paid)\n    _ = [look(engine, plan.plan, written(plan)) for plan in paid.plans]\n",
        "a question that nobody pays for tells how long it takes, and whether it fails",
        (DOOR, FAILURES),
    ),
    Mutant(
        "failures-forgotten",
        "door.py",
        "        ledger.fail(receipt.entry, failure)\n",
        "",
        "a question that failed is tried again for nothing, and tells each time whether and when it fails",
        (FAILURES,),
    ),
    Mutant(
        "shown-whatever-was-kept",
        "door.py",
        "return ledger.store(paid, made)",
        "ledger.store(paid, made)\n        return tuple(made)",
        "two sessions that resume one charge show two answers for it, with noise of their own",
        (FAILURES,),
    ),
    Mutant(
        "interruptions-forgotten",
        "door.py",
        "            ledger.interrupt(receipt.entry)\n",
        "            pass\n",
        "a question can be broken off and tried again without end, and tells its time each time",
        (DOOR,),
    ),
    Mutant(
        "charged-while-others-run",
        "door.py",
        "    with engine.slot():",
        "    if True:",
        "whoever waits for others has paid, and the time of an answer tells of everybody's questions",
        (DOOR,),
    ),
    # ---- interruptions
    Mutant(
        "resumed-without-end",
        "ledger/ledger.py",
        "if book.interruptions.get(charge, 0) < MOST_RESUMED:",
        "if True:",
        "a question can be broken off and tried again until the ledger is damaged",
        (DOOR,),
    ),
    Mutant(
        "interruptions-not-counted",
        "ledger/book.py",
        "self.interruptions.get(charge, 0) + 1",
        "1",
        "a question can be broken off and tried again without end, and tells its time each time",
        (DOOR,),
    ),
    Mutant(
        "refund-on-interruption",
        "ledger/book.py",
        "                self.interruptions[charge] = many\n",
        "                self.interruptions[charge] = many\n                self.total = Fraction(0)\n",
        "whoever breaks a question off gets everybody's budget back",
        (DOOR,),
    ),
    # ---- envelopes
    Mutant(
        "envelope-overdrawn",
        "ledger/ledger.py",
        "if used > envelope.amount or",
        "if draw.cost.amount > envelope.amount or",
        "a learner draws an envelope as often as it likes, until the book refuses the whole ledger",
        (ENVELOPES,),
    ),
    Mutant(
        "draws-not-added-up",
        "ledger/book.py",
        "        envelope.used, envelope.delta_used = used, delta_used\n",
        "",
        "every draw may take the whole envelope",
        (ENVELOPES,),
    ),
    Mutant(
        "forged-draws-within-nothing",
        "ledger/book.py",
        "demand(used <= envelope.amount and delta_used <= envelope.delta,",
        "demand(True,",
        "a made-up draw above its envelope passes the verification",
        (ENVELOPES,),
    ),
    Mutant(
        "drawn-from-other-data",
        "ledger/ledger.py",
        'if sealed["data"] != keyed(self.records.key, "data", draw.version):',
        "if sealed is None:",
        "an envelope that was paid for one state of the data is drawn from another",
        (ENVELOPES,),
    ),
    # ---- the key
    Mutant(
        "version-without-a-key",
        "ledger/data_key.py",
        'return hmac.digest(key, json.dumps(said).encode(), "sha256").hex()',
        'return hmac.digest(b"", json.dumps(said).encode(), "sha256").hex()',
        "whoever reads the ledger and guesses a table, or one row of it, finds the guess confirmed",
        (KEY,),
    ),
    Mutant(
        "key-in-the-ledger",
        "ledger/payment.py",
        '"data": keyed(key, "data", self.version),',
        '"data": keyed(key, "data", self.version), "key": key.hex(),',
        "whoever reads the ledger has the key",
        (KEY,),
    ),
    Mutant(
        "key-for-everybody",
        "ledger/data_key.py",
        "os.O_WRONLY, 0o600)",
        "os.O_WRONLY, 0o644)",
        "every user of the machine can read the key",
        (KEY,),
    ),
    # ---- limits that change
    Mutant(
        "limits-of-anybody",
        "ledger/in_force.py",
        "return self._agreed and self._is_marked(book)",
        "return self._agreed",
        "who can write the ledger and nothing else grants everybody more",
        (IN_FORCE,),
    ),
    Mutant(
        "mark-of-any-place",
        "ledger/in_force.py",
        'return keyed(key, "limit", seq, before, said["epsilon"], said["delta"])',
        'return keyed(key, "limit")',
        "the mark of an earlier change makes any limit the owner's",
        (IN_FORCE,),
    ),
    # ---- ledgers of 0.1.0
    Mutant(
        "old-charges-found",
        "ledger/ledger.py",
        "                if same_request.old:\n",
        "                if False:\n",
        "a request id of an old charge is taken for a question that nobody wrote down",
        (OLD,),
    ),
    Mutant(
        "anchor-left-behind",
        "ledger/records.py",
        "        self.anchor.advance(newest, self.reader.holds, forced=forced)\n",
        "",
        "an older copy of the ledger takes its place, and nobody knows better",
        (ANCHOR,),
    ),
)
