"""Heavy hitters: the frequent texts of a domain too large to list, found character by character.

Each person reports one prefix of their text, of a length chosen by chance; the server keeps the frequent prefixes of
one length and tries every next character (prefix extending, Wang, Li, Jha 2019).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.accounting.rounding import up
from sfumato.kernel.entropy import Entropy
from sfumato.local.domain import column
from sfumato.local.estimate import Estimate
from sfumato.local.hashing import Hashing
from sfumato.local.oracle import Codes, checked
from sfumato.local.scheme import VERSION, Columns, Tally
from sfumato.local.wordings import alphabet_unusable, text_outside
from sfumato.noise.coins import below
from sfumato.schema.numbers import whole

END = "\0"
PRIME = 268_435_399  # the largest below 2^28: prefixes are named by a public polynomial modulo it
BASE = 179_424_673
LONGEST = 64
FALSE_ALARM = 0.01  # the chance that any text is listed which nobody holds


@dataclass(frozen=True, slots=True)
class Hitters:
    """A report is the length of the prefix, which is pure chance, and a locally hashed prefix of that length.

    Claim: ε-LDP: the length does not depend on the text, and the prefix is hashed with ε.
    Proof: docs/proofs/local-hashing.md, "Heavy hitters".
    """

    alphabet: str
    length: int
    price: Fraction
    keep: int = 32

    def __post_init__(self) -> None:
        signs = self.alphabet
        if not isinstance(signs, str) or len(set(signs)) < max(2, len(signs)) or END in signs:
            raise alphabet_unusable()
        whole(self.length, "length", least=1, most=LONGEST)
        whole(self.keep, "keep", least=1, most=4096)

    @property
    def oracle(self) -> Hashing:
        return Hashing.best(PRIME, self.price, primes_only=True)

    @property
    def epsilon(self) -> float:
        return up(self.price)

    @property
    def names(self) -> tuple[str, ...]:
        return ()

    @property
    def arrays(self) -> int:
        return 3

    def spec(self) -> dict[str, Any]:
        return {
            "sfumato": VERSION,
            "protocol": "heavy hitters",
            "epsilon": str(self.price),
            "alphabet": self.alphabet,
            "length": self.length,
            "keep": self.keep,
        }

    def encode(self, values: Any, row: int = 1) -> npt.NDArray[np.int64]:
        """A row of sign numbers for each text; 0 marks the end."""
        texts = column(values)
        texts = texts.tolist() if isinstance(texts, np.ndarray) else texts
        for place, text in enumerate(texts):
            if not isinstance(text, str) or not 1 <= len(text) <= self.length or END in text:
                raise text_outside(row + place, self.length)
        whole_text = "".join(text.ljust(self.length, END) for text in texts)
        points = np.frombuffer(whole_text.encode("utf-32-le", "surrogatepass"), dtype="<u4").reshape(-1, self.length)
        known = np.frombuffer((END + self.alphabet).encode("utf-32-le", "surrogatepass"), dtype="<u4")
        order = np.argsort(known)
        places = np.searchsorted(known[order], points).clip(max=len(known) - 1)
        right = (known[order][places] == points).all(axis=1)
        if not right.all():
            raise text_outside(row + int(np.argmin(right)), self.length)
        return np.asarray(order[places], dtype=np.int64)

    def read(self, cells: dict[str, list[str]]) -> Any:
        return next(iter(cells.values()))

    def draw(self, encoded: npt.NDArray[np.int64], entropy: Entropy) -> Columns:
        levels = below(self.length, len(encoded), entropy)
        return (levels, *self.oracle.draw(self.prefixes(encoded)[levels, np.arange(len(encoded))], entropy))

    def prefixes(self, encoded: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The names of the prefixes of each text, one row per length."""
        names = np.zeros((self.length, len(encoded)), dtype=np.int64)
        name = np.zeros(len(encoded), dtype=np.int64)
        for level in range(self.length):
            name = _next(name, encoded[:, level])
            names[level] = name
        return names

    def payloads(self, reports: Columns) -> list[Any]:
        return [list(three) for three in zip(*(column.tolist() for column in reports), strict=True)]

    def columns(self, payloads: Sequence[Any], row: int) -> Columns:
        length = self.length
        right = lambda one: isinstance(one, list) and len(one) == 3 and type(one[0]) is int and 0 <= one[0] < length  # noqa: E731
        checked(payloads, right, row, f"the report is not [level below {length}, seed, cell]")
        return (
            np.array([one[0] for one in payloads], dtype=np.int64),
            *self.oracle.columns([one[1:] for one in payloads], row),
        )

    def tally(self) -> Tally:
        return [np.empty(0, dtype=np.int64) for _ in range(self.arrays)]

    def add(self, tally: Tally, reports: Columns) -> Tally:
        return self.merge(tally, list(reports))

    def merge(self, first: Tally, second: Tally) -> Tally:
        """Reports are kept: which values to compare them with is known at the end only."""
        return [np.concatenate(pair) for pair in zip(first, second, strict=True)]

    def finish(self, tally: Tally, users: int, confidence: float) -> Estimate:
        texts, names, found = [""], np.zeros(1, dtype=np.int64), None
        for level in range(self.length):
            texts, names = self._longer(texts, names)
            chosen = tally[0] == level
            found = self._level(tally[1][chosen], tally[2][chosen], names, users)
            best = np.argsort(-found[0])[: self.keep]
            if level < self.length - 1:
                texts, names = [texts[place] for place in best], names[best]
        unbiased, deviations, rare = found if found is not None else (np.empty(0),) * 3
        limit = NormalDist().inv_cdf(1 - FALSE_ALARM / max(len(texts), 1))
        sure = [place for place in np.argsort(-unbiased) if unbiased[place] > limit * rare[place]]
        return Estimate(
            [texts[place].rstrip(END) for place in sure],
            users,
            unbiased[sure],
            deviations[sure],
            self.epsilon,
            confidence,
            complete=False,
        )

    def _longer(self, texts: list[str], names: Codes) -> tuple[list[str], Codes]:
        """Every prefix with every next sign; after its end a text only goes on ending."""
        longer, numbers = [], []
        for text, name in zip(texts, names, strict=True):
            signs = range(1) if text.endswith(END) else range(0 if text else 1, len(self.alphabet) + 1)
            for sign in signs:
                longer.append(text + (END + self.alphabet)[sign])
                numbers.append(int(_next(name, np.int64(sign))))
        return longer, np.array(numbers, dtype=np.int64)

    def _level(self, seeds: Codes, cells: Codes, names: Codes, users: int) -> tuple[Any, Any, Any]:
        """Counts among all users, their deviations, and the deviation of a text that nobody holds."""
        oracle, count = self.oracle, max(len(seeds), 1)
        supports = oracle.compare((seeds, cells), names)
        gap, scale = oracle.keep - oracle.stray, users / count
        unbiased = (supports - len(seeds) * oracle.stray) / gap * scale
        chance = (supports + 1) / (len(seeds) + 2)
        deviations = np.sqrt(chance * (1 - chance) * count) / gap * scale
        rare = np.full(len(names), np.sqrt(oracle.stray * (1 - oracle.stray) * count) / gap * scale)
        return unbiased, deviations, rare


def _next(name: Any, sign: Any) -> Any:
    return (name * BASE + sign + 1) % PRIME
