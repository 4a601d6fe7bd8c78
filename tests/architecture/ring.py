"""The trusted ring: every file whose mistakes lose privacy, and nothing else. This list alone decides.

The tables in ARCHITECTURE.md and docs/explanation/audit-in-an-hour.md and the files that `make coverage` measures are
written from it by `python -m docs.generate`; every file of it has a bug in `tests/mutants/planted.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

Part = Literal["spine", "book", "language", "tables", "mechanism"]
PARTS: tuple[Part, ...] = get_args(Part)
LONGEST_MECHANISM = 20
LINES_A_MINUTE, LINES_OF_THE_LANGUAGE_A_MINUTE = 30, 15


@dataclass(frozen=True, slots=True)
class Trusted:
    """A file under src/sfumato, the minutes it takes to read, and what to ask of it."""

    file: str
    part: Part
    minutes: int
    claim: str
    lines: str = ""  # which of them, where the rest of the file is not trusted

    def __post_init__(self) -> None:
        if self.minutes < 1 or "?" not in self.claim:
            raise ValueError(f"{self.file} takes a minute or more, and its claim is a question")


@dataclass(frozen=True, slots=True)
class Promise:
    """What reading a part takes, in all or (of mechanisms) each at most, and what is known afterwards."""

    title: str
    takes: str
    minutes: int
    known: str


PROMISED: Mapping[Part, Promise] = MappingProxyType(
    {
        "spine": Promise("The spine", "an hour", 60, "nothing leaves unpaid, or with less noise than was certified"),
        "book": Promise(
            "The book of the ledger", "fifty minutes", 50, "no file makes the ledger forget what was spent"
        ),
        "language": Promise(
            "The counting language",
            "three hours",
            180,
            "one unit moves the integers of a plan by at most what was certified, and no row can make a question fail",
        ),
        "tables": Promise(
            "Declarations and tables",
            "an hour and twenty minutes",
            80,
            "who is protected is who was declared, and what a cell says depends on that cell alone",
        ),
        "mechanism": Promise(
            "Further mechanisms",
            "twenty minutes each at most",
            LONGEST_MECHANISM,
            "each costs what it says; read those that your questions use",
        ),
    }
)

RING = (
    # ---- the spine, in the order of a question
    Trusted(
        "door.py",
        "spine",
        3,
        "Is the charge on disk before the engine runs? Does anything but `release(…)` reach the answer? Could an error "
        "after the charge refund it, or be tried again without end?",
    ),
    Trusted(
        "kernel/certify.py",
        "spine",
        11,
        "Does every `match` end in a refusal? Is each sensitivity the most one row adds, times `max_rows`? Is the "
        "price taken from the mechanism's theorem and not from the request?",
    ),
    Trusted(
        "kernel/gate.py",
        "spine",
        3,
        "Does every declared group get an entry, also the absent ones? Is a receipt good for one release, of one plan? "
        "Is every entry checked?",
    ),
    Trusted(
        "kernel/mechanisms/protocol.py",
        "spine",
        3,
        "Does every mechanism hold what its price follows from? What fits, and what is too much?",
    ),
    Trusted(
        "kernel/mechanisms/additive.py",
        "spine",
        4,
        "Is L1/ε the scale, and L2²/2ρ the variance? Does every integer get noise of its own?",
    ),
    Trusted(
        "kernel/samplers.py",
        "spine",
        6,
        "Where does a double decide, and by what margin may it? Does the time depend on the draw? (The specification "
        "is `audit/exact.py`, the proof `certified-inversion.md`.)",
    ),
    Trusted("kernel/borders.py", "spine", 3, "What happens inside the margin? Do both ends of U's interval agree?"),
    Trusted("kernel/entropy.py", "spine", 1, "Is there any source of randomness but OpenSSL's? Is every draw uniform?"),
    Trusted("kernel/cost.py", "spine", 3, "Which way is each rounding? (The proof: `zcdp-conversion.md`.)"),
    Trusted("ledger/terms.py", "spine", 3, "Which half of δ is converted, and which is kept for keys?"),
    Trusted(
        "ledger/ledger.py",
        "spine",
        6,
        "Is the total read, compared and written under one lock? What is free, and why may it be? Can an envelope be "
        "overdrawn?",
    ),
    Trusted(
        "ledger/bought.py",
        "spine",
        3,
        "Can somebody without the key have an answer shown, or one drawn again? Whose draws is anybody told of?",
    ),
    Trusted(
        "ledger/admission.py",
        "spine",
        2,
        "Does `amount > left` refuse a charge, of the table and of the analyst?",
    ),
    Trusted("ledger/chain.py", "spine", 7, "Is an entry on disk, and read back, before its receipt exists?"),
    Trusted("engines/ticks.py", "spine", 2, "Do answers and failures leave at ticks alone?"),
    # ---- what the ledger believes of its file
    Trusted(
        "ledger/book.py",
        "book",
        8,
        "Does anything come from the file that is not in the book? Does every total follow from the amounts?",
    ),
    Trusted(
        "ledger/records.py",
        "book",
        3,
        "Is the anchor asked before the file, and moved before anything is shown? Is what was written looked for?",
    ),
    Trusted("ledger/in_force.py", "book", 1, "Who can raise a limit while a session is open, and who cannot?"),
    Trusted("ledger/data_key.py", "book", 2, "Who can read the key? Is it ever in the ledger? Can there be two?"),
    Trusted("ledger/marks.py", "book", 1, "Is a mark of all that an entry says, and of its place?"),
    Trusted("ledger/veil.py", "book", 1, "What does an answer in the file tell whoever has no key?"),
    Trusted(
        "ledger/reader.py", "book", 2, "May anything vanish that was read once? Is half an entry ever in the book?"
    ),
    Trusted("ledger/entry.py", "book", 2, "Does the hash cover every field, and the hash before?"),
    Trusted("ledger/layout.py", "book", 3, "Is everything that SQLite would execute of a file known to the letter?"),
    Trusted("ledger/anchor.py", "book", 4, "What does a copy of yesterday's file get? What do two copies get?"),
    Trusted("ledger/alone.py", "book", 1, "Is the lock given up wherever an interruption comes?"),
    Trusted("ledger/totals.py", "book", 1, "Is a total that is rounded rounded up?"),
    Trusted("ledger/verifying.py", "book", 1, "Does verifying refuse what charging would have refused?"),
    Trusted(
        "ledger/payment.py",
        "book",
        5,
        "Does a charge that is found have to be for this question, all of its cost, and this unit?",
    ),
    Trusted("ledger/starting.py", "book", 3, "Can anything lie beside a ledger that SQLite would obey?"),
    Trusted(
        "ledger/guard.py",
        "book",
        5,
        "Could SQLite ever take a journal for its own? Is the file that it opens the one that is guarded? Whose locks "
        "does a descriptor give up that is closed?",
    ),
    Trusted(
        "ledger/switching.py",
        "book",
        1,
        "Is a file that comes to keep a log otherwise the same? Does everybody notice?",
    ),
    Trusted("ledger/pen.py", "book", 1, "Does an entry follow the newest that was read and checked?"),
    Trusted("ledger/blocks.py", "book", 1, "Does a transaction stay open that nobody is in?"),
    Trusted("ledger/forks.py", "book", 1, "Is every connection closed before a fork, while no thread uses it?"),
    Trusted("ledger/limits.py", "book", 1, "By how much may a sum be above its limit?"),
    Trusted("ledger/typed.py", "book", 1, "Is what an entry says of the kind a ledger writes?"),
    Trusted("ledger/disk.py", "book", 1, "Is what was written on the disk before anybody builds on it?"),
    # ---- what a plan can say, and the SQL that is written for it
    Trusted("plan/nodes.py", "language", 14, "What can a plan say at all? Is all of a plan in its digest?"),
    Trusted(
        "plan/writing.py", "language", 3, "Are plans that differ written otherwise, also where Python calls them equal?"
    ),
    Trusted("plan/once.py", "language", 2, "Is what was found of one object ever taken for what is found of another?"),
    Trusted(
        "plan/expressions.py", "language", 16, "Does every expression show all it is made of? Is every pattern short?"
    ),
    Trusted("plan/functions.py", "language", 8, "Is every function total, and are its constants bounded?"),
    Trusted("plan/totality.py", "language", 11, "Does every node take what its SQL needs? How long can a text become?"),
    Trusted("plan/work.py", "language", 16, "Is every copy in the SQL counted, and every character that one row pays?"),
    Trusted("plan/kinds.py", "language", 4, "Is what an engine takes for a number one?"),
    Trusted("plan/lattice.py", "language", 3, "Are lattice bounds rounded outward and below 2³¹?"),
    Trusted("plan/sources.py", "language", 14, "Does every source keep the person? When is a row a person?"),
    Trusted("plan/caps.py", "language", 2, "Is L2² the largest that so many rows in so many groups can make?"),
    Trusted(
        "kernel/ceilings.py",
        "language",
        4,
        "Does every part of a source keep to what the owner allows of its tables? How many rows may a join make?",
    ),
    Trusted("plan/counting.py", "language", 7, "Do all countings of a plan have its rows, caps and salt?"),
    Trusted(
        "engines/sql/counting.py",
        "language",
        24,
        "Is the clamp the last step before SUM? Does a person's share depend on that person alone? (The proof: "
        "`contribution-bounding.md`.)",
    ),
    Trusted(
        "engines/sql/expressions.py",
        "language",
        14,
        "Can any expression fail, or overflow, on one row? What do NULL and NaN do? (The proof: `lattice.md`.)",
    ),
    Trusted(
        "engines/sql/phrases.py",
        "language",
        5,
        "Can a function fail outside of what it is made for? Can a text be SQL?",
    ),
    Trusted(
        "engines/sql/dialect.py",
        "language",
        4,
        "Is what is asked of a leaf enough for the three files above? Can a name of ours be taken for a column?",
    ),
    Trusted(
        "engines/duckdb/dialect.py",
        "language",
        8,
        "Is every leaf total, and does a person's choice depend on that person's values alone?",
    ),
    Trusted(
        "engines/sql/sources.py", "language", 10, "Is every row of a source one person's? How many may a join make?"
    ),
    Trusted(
        "engines/copies.py",
        "language",
        4,
        "Is a copy dropped when the data change, and is what reads it written for its source?",
    ),
    Trusted("engines/arrange.py", "language", 7, "Is every group there, and every integer in its own place?"),
    # ---- what is declared, and what a cell says
    Trusted("schema/unit.py", "tables", 5, "Who is protected, and is every bound a whole number in its range?"),
    Trusted(
        "schema/columns.py",
        "tables",
        5,
        "How long may a text be if nobody says so? Are bounds in order, and listed values different?",
    ),
    Trusted("schema/allow.py", "tables", 1, "Is a mechanism that was not named switched off?"),
    Trusted("schema/table.py", "tables", 5, "Can the unit's id be an ordinary column? Are names told apart?"),
    Trusted("schema/budget.py", "tables", 2, "Is every budget positive, and every spend large enough to be counted?"),
    Trusted("schema/numbers.py", "tables", 3, "Is a number the one that was typed?"),
    Trusted(
        "schema/policy.py",
        "tables",
        8,
        "Do unit, budget and ledger come from the file as it says, and is every other word refused?",
    ),
    Trusted(
        "engines/duckdb/canonical.py",
        "tables",
        8,
        "Is each cell read by itself, whatever type its column has? Can one fail?",
    ),
    Trusted(
        "engines/duckdb/cells.py", "tables", 5, "Does a text depend on its cell alone? Do equal numbers have one text?"
    ),
    Trusted("engines/duckdb/frames.py", "tables", 8, "Does any cell decide the type of its column?"),
    Trusted(
        "engines/duckdb/layouts.py", "tables", 3, "Does the engine read a column where its cells lie, and only there?"
    ),
    Trusted(
        "engines/duckdb/further_tables.py", "tables", 2, "Is a key of a lookup there once? Are ids of all tables alike?"
    ),
    Trusted("engines/duckdb/sources.py", "tables", 5, "Can one row change how another row of a file is read?"),
    Trusted(
        "engines/duckdb/in_place.py",
        "tables",
        4,
        "Can a file hold rows of several people in one, or fail on single rows?",
    ),
    Trusted(
        "engines/duckdb/files.py", "tables", 6, "Can a row be read twice? Does the first line alone decide on columns?"
    ),
    Trusted("engines/duckdb/sqlite.py", "tables", 2, "Is each cell read by itself, and a view refused?"),
    Trusted("engines/duckdb/tables.py", "tables", 2, "Does a failure say anything in the engine's words?"),
    Trusted(
        "engines/duckdb/engine.py",
        "tables",
        6,
        "Can the engine reach a file, or decide by its statistics? How does it fail?",
    ),
    # ---- mechanisms besides noise
    Trusted(
        "kernel/mechanisms/choice.py", "mechanism", 14, "Is the rate ε/2Δ, and ε/Δ only when all scores move alike?"
    ),
    Trusted("kernel/mechanisms/keys.py", "mechanism", 15, "Is every probability of a key exact and rounded down?"),
    Trusted("kernel/mechanisms/weighted_keys.py", "mechanism", 8, "Is every bound of a tail on the safe side?"),
    Trusted(
        "kernel/mechanisms/ranks.py",
        "mechanism",
        12,
        "Is every choice paid for, by the row, and is every width made safe before it is used?",
    ),
    Trusted(
        "kernel/mechanisms/rank_bars.py",
        "mechanism",
        4,
        "Where do cuts come from, but from what was released? Is the longest column as long as is said?",
    ),
    Trusted(
        "kernel/mechanisms/rank_lines.py",
        "mechanism",
        8,
        "Does a further row move no other, and no piece of a line share one?",
    ),
    Trusted(
        "kernel/mechanisms/splits.py",
        "mechanism",
        6,
        "How far does one row move a score, and which way? Is every score a whole number, whatever the counts are?",
    ),
    Trusted("kernel/mechanisms/running.py", "mechanism", 6, "Is the norm that of the largest column?"),
    Trusted(
        "kernel/mechanisms/found_bounds.py",
        "mechanism",
        10,
        "Does a row move every score and one count by one at most, and is the sum clamped to the edge that was chosen?",
    ),
    Trusted(
        "kernel/mechanisms/found_ends.py",
        "mechanism",
        12,
        "Is `kernel.lines` ever told of the rows? Is a row counted once, whatever the cuts are, and is no cell worth "
        "more than the noise is for?",
    ),
)

# What the folders of the ring hold besides. A file belongs here only if none of its mistakes can lose privacy.
NOT_TRUSTED: Mapping[str, str] = MappingProxyType(
    {
        "errors.py": "texts, made of what they are given",
        "visible.py": "control characters made visible in texts",
        "plan/walk.py": "what the planner and messages look up in an expression; nothing of the ring asks it",
        "kernel/widths.py": "accuracy alone: whatever it says, it is made safe before it is used",
        "kernel/lines.py": "accuracy alone: it is told places that were released, and made safe like widths",
        "kernel/wordings.py": "texts",
        "kernel/shape.py": "the shape of a kept answer, compared before it is read: else an error in other words",
        "ledger/balance.py": "what is left, for people; `ledger/admission.py` decides",
        "ledger/listing.py": "lists charges that are in the book",
        "ledger/history.py": "what a charge says to people, read from an entry that is in the book",
        "ledger/places.py": "refuses odd paths early; `Chain` opens a file by its full name, none without its anchor",
        "ledger/releases.py": "noisy integers as texts and back: what it makes of a release follows from that",
        "ledger/vouching.py": "the owner's own word for a ledger whose anchor was lost; no anchor is overruled",
        "ledger/wordings.py": "texts",
        "engines/lanes.py": "which of several engines a question gets; the door takes that engine's own slot and state",
        "engines/open.py": "picks an engine by the source, and how many; each of them protects",
        "engines/protocol.py": "says what an engine is, and does nothing",
        "engines/duckdb/fit.py": "exact counts for the owner's own `sfumato check` and `init`; a test keeps it there",
        "engines/duckdb/watchdog.py": "ends a query that takes too long; else the answer is refused or late",
        "engines/wordings.py": "texts",
        "schema/beside_wordings.py": "texts",
        "schema/column_names.py": "what names of columns say, for drafts and suggestions that the owner corrects",
        "schema/draft.py": "a first policy for the owner, who reads and corrects it",
        "schema/given.py": "refuses odd names and paths early; wherever a name enters SQL, it is quoted",
        "schema/limits.py": "how much of the machine a question may use",
        "schema/others.py": "declares further tables; `Schema` and `plan.sources` check what protection needs",
        "schema/roles.py": "words for anonymised tables",
        "schema/wordings.py": "texts",
    }
)

# Not trusted, and covered all the same: the gate for the analyst's text, and all of the kernel and the ledger.
COVERED_BESIDES = (
    "kernel/lines.py",
    "kernel/widths.py",
    "kernel/wordings.py",
    "kernel/shape.py",
    "ledger/balance.py",
    "ledger/history.py",
    "ledger/listing.py",
    "ledger/places.py",
    "ledger/releases.py",
    "ledger/vouching.py",
    "ledger/wordings.py",
    "query/sql*.py",
)

FOLDERS = ("kernel", "plan", "ledger", "engines", "schema")
FILES = frozenset(trusted.file for trusted in RING)


def of_part(part: Part) -> tuple[Trusted, ...]:
    return tuple(trusted for trusted in RING if trusted.part == part)
