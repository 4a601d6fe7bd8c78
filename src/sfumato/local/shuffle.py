"""What shuffling adds: reports without senders, in random order, hide each other.

The bound is the numerical one of Feldman, McMillan, Talwar 2021, proved on the page named below; closed forms and
tighter mixtures are left out. The relation is *replace one person's value*, all users use the same local protocol, the
number of users is public, and somebody trusted shuffles.
"""

from math import exp, log, log1p

import numpy as np
import numpy.typing as npt

from sfumato.accounting.rounding import up
from sfumato.errors import out_of_range
from sfumato.schema.numbers import GivenNumber, exact_positive, whole

Floats = npt.NDArray[np.float64]

BLOCKS = 160
REACH = 9.0  # deviations of the number of clones that are looked at; the rest counts as a failure
SLACK = 1 + 1e-5  # the probabilities err by less than 3e-6 of themselves
ROUNDING = 1e-14  # of differences that nearly cancel, all together
MOST_USERS = 10**8


def shuffled(epsilon: GivenNumber, *, users: int, delta: GivenNumber) -> float:
    """The ε of all reports together after shuffling, at this δ: a bound, rounded up.

    Claim: (result, delta)-DP towards whoever sees the shuffled reports, for replacing one person's value.
    Proof: docs/proofs/local-shuffle.md
    """
    local = up(exact_positive(epsilon, "epsilon"))
    chance = float(exact_positive(delta, "delta"))
    count = whole(users, "users", least=2, most=MOST_USERS)
    if chance >= 1:
        raise out_of_range("delta", "0", "1", f"{chance:g}")
    clones = _Clones(local, count)
    low, high = 0.0, local
    if clones.delta(high * (1 - 1e-9)) > chance:
        return local  # each report alone promises that much
    while high - low > 1e-4 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if clones.delta(middle) <= chance else (middle, high)
    return high


class _Clones:
    """The pair of laws that dominates: everyone else is, with probability e^-ε, a coin toss between the two values."""

    def __init__(self, local: float, users: int) -> None:
        others, share = users - 1, exp(-local)
        spread = (others * share * (1 - share)) ** 0.5
        low = max(0, int(others * share - REACH * spread - 20))
        high = min(others, int(others * share + REACH * spread + 20))
        edges = np.unique(np.linspace(low, high + 1, BLOCKS + 1).astype(np.int64))
        every = np.arange(low, high + 1, dtype=np.float64)
        masses = np.exp(_log_binomial(others, every) + every * log(share) + (others - every) * log1p(-share))
        self._starts = edges[:-1]
        self._weights = np.add.reduceat(masses, (edges[:-1] - low).astype(np.int64))
        # Bernstein's bound for all other numbers of clones; coins beyond ten deviations add far less.
        reach = REACH * spread + 20
        self._missing = 2 * exp(-(reach**2) / (2 * (spread**2 + reach / 3))) + ROUNDING
        pairs = [_pair(int(clones), 1 / (1 + exp(-local))) for clones in self._starts]
        self._first = np.concatenate([first for first, _ in pairs])
        self._second = np.concatenate([second for _, second in pairs])
        self._places = np.cumsum([0, *(len(first) for first, _ in pairs[:-1])])

    def delta(self, epsilon: float) -> float:
        """Fewer clones hide less, so each block of numbers of clones counts as its smallest."""
        each = np.add.reduceat(np.maximum(self._first - exp(epsilon) * self._second, 0.0), self._places)
        return float(SLACK * (self._weights @ each) + self._missing)


def _pair(clones: int, kept: float) -> tuple[Floats, Floats]:
    """The laws of the number of heads among so many fair coins and one more of chance `kept`, or 1 - `kept`."""
    reach = int(5 * clones**0.5) + 30  # ten deviations
    low, high = max(0, clones // 2 - reach), min(clones + 1, clones // 2 + reach)
    heads = np.arange(low, high + 1, dtype=np.float64)
    at = _fair(clones, heads)
    # From the neighbour, so that their quotient has no error of the factorials.
    before = at * heads / np.maximum(clones - heads + 1, 1.0)
    if high == clones + 1:
        before[-1] = exp(-clones * log(2))
    return kept * before + (1 - kept) * at, kept * at + (1 - kept) * before


def _fair(clones: int, heads: Floats) -> Floats:
    """P(Bin(clones, ½) = heads), 0 outside."""
    inside = (heads >= 0) & (heads <= clones)
    result = np.zeros(len(heads))
    result[inside] = np.exp(_log_binomial(clones, heads[inside]) - clones * log(2))
    return result


def _log_binomial(count: int, chosen: Floats) -> Floats:
    whole_part = _log_factorial(np.array([float(count)]))
    return np.asarray(whole_part - _log_factorial(chosen) - _log_factorial(count - chosen))


def _log_factorial(number: Floats) -> Floats:
    """Stirling's series from 16 on, exact products below; right to a few units in the last place."""
    small = np.cumsum(np.log(np.maximum(np.arange(16.0), 1.0)))
    x = np.maximum(number, 16.0)
    series = (x + 0.5) * np.log(x) - x + 0.5 * log(2 * np.pi) + 1 / (12 * x) - 1 / (360 * x**3) + 1 / (1260 * x**5)
    return np.where(number < 16, small[np.minimum(number, 15.0).astype(np.int64)], series)
