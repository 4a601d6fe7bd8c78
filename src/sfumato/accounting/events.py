"""What was done: a mechanism and its parameters, as accounting sees it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sfumato.accounting.wordings import event_malformed, event_parameters, event_unknown, no_events, too_fine
from sfumato.errors import not_positive, not_whole, out_of_range, too_small
from sfumato.schema.numbers import exact, exact_positive, shown, whole

PURE = ("laplace", "geometric", "randomised_response", "pure", "exponential", "permute_and_flip")
LATTICE = ("geometric", "discrete_gaussian")
MECHANISMS = (*PURE, "gaussian", "discrete_gaussian", "zcdp", "approximate")
RANKS = ("rank_choice", "rank_flip")
RECORDED = (
    "discrete_laplace",
    "discrete_gaussian",
    "exponential",
    "permute_and_flip",
    "bounded_sum",
    "found_ends",
    "key_selection",
    "key_threshold",
    *RANKS,
)
ALIASES = {"discrete_laplace": "geometric", "randomized_response": "randomised_response"}
FIRST = {"gaussian": "sigma", "discrete_gaussian": "sigma", "zcdp": "rho"}

RHO_GRID = 1 << 128
MOST_POINTS = 1 << 20


@dataclass(frozen=True, slots=True)
class Event:
    """One release by one mechanism.

    `amount` is ε for a pure or approximate mechanism, σ in units of the sensitivity for "gaussian", σ in steps for
    "discrete_gaussian", ρ for "zcdp". `detail` is δ for "approximate" and for "zcdp" that may fail with it, the
    sensitivity in steps for "geometric" and "discrete_gaussian", else 0.
    """

    mechanism: str
    amount: Fraction
    detail: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if self.mechanism not in MECHANISMS:
            raise event_unknown(self.mechanism, MECHANISMS)
        if self.amount <= 0:
            raise not_positive(FIRST.get(self.mechanism, "epsilon"), shown(self.amount))
        if self.mechanism in LATTICE:
            self._check_lattice()
        elif self.mechanism in ("approximate", "zcdp"):
            if not 0 <= self.detail < 1:
                raise out_of_range("delta", "0", "1", shown(self.detail))
        elif self.detail:
            raise event_parameters(self.mechanism, "one parameter")

    def __hash__(self) -> int:
        # The hash of a fraction needs a modular inverse; that of its two integers does not.
        return hash((self.mechanism, self.amount.as_integer_ratio(), self.detail.as_integer_ratio()))

    @property
    def epsilon(self) -> Fraction | None:
        """The ε of its (ε, δ) guarantee, if it has one of its own."""
        return self.amount if self.mechanism in PURE or self.mechanism == "approximate" else None

    @property
    def delta(self) -> Fraction:
        return self.detail if self.mechanism in ("approximate", "zcdp") else Fraction(0)

    @property
    def rho(self) -> Fraction:
        """Apart from `delta`, the event is ρ-zCDP with this ρ; rounded up to a multiple of 2^-128 for Gaussian noise.

        Proof: docs/proofs/composition.md, "Currencies".
        """
        match self.mechanism:
            case "zcdp":
                return self.amount
            case "gaussian":
                return _up(1 / (2 * self.amount**2))
            case "discrete_gaussian":
                return _up(self.detail**2 / (2 * self.amount**2))
            case "exponential":
                return self.amount**2 / 8
            case _:
                return self.amount**2 / 2

    def __str__(self) -> str:
        second = [shown(self.detail)] if self.mechanism == "approximate" or self.delta or self.detail > 1 else []
        return f"{self.mechanism}({', '.join([shown(self.amount), *second])})"

    def _check_lattice(self) -> None:
        if self.detail.denominator != 1:
            raise not_whole("sensitivity", shown(self.detail))
        if self.detail < 1:
            raise too_small("sensitivity", "1", shown(self.detail))
        points = self.detail + (80 * self.amount if self.mechanism == "discrete_gaussian" else 0)
        if points > MOST_POINTS:
            raise too_fine(self.mechanism, "sensitivity and sigma smaller")


Plan = tuple[tuple[Event, int], ...]


def event(given: Any) -> Event:
    """An event from ("laplace", 0.1), from an Event, or from a record that a ledger keeps.

    A record does not say how many entries of a vector one person moves. Its discrete Laplace noise therefore counts
    as any mechanism of that ε, and its discrete Gaussian noise as ρ-zCDP; so does an exponential choice in several
    groups that share a person's rows. Where the L2 sensitivity is no whole number, a record has its square.
    """
    if isinstance(given, Event):
        return given
    if isinstance(given, Mapping):
        return _recorded(given)
    if isinstance(given, str) or not isinstance(given, Sequence) or not given or not isinstance(given[0], str):
        raise event_malformed(repr(given) if isinstance(given, str | int | float | tuple) else type(given).__name__)
    name, parameters = ALIASES.get(given[0], given[0]), given[1:]
    if name not in MECHANISMS:
        raise event_unknown(name, MECHANISMS)
    least, most = (2, 2) if name == "approximate" else (1, 2 if name in LATTICE else 1)
    if not least <= len(parameters) <= most:
        raise event_parameters(
            name, "epsilon and delta" if least == 2 else "one parameter" if most == 1 else "one or two"
        )
    amount = exact_positive(parameters[0], FIRST.get(name, "epsilon"))
    if name == "approximate":
        return Event(name, amount, exact(parameters[1], "delta"))
    if name in LATTICE:
        return Event(name, amount, Fraction(whole(parameters[1], "sensitivity", least=1) if len(parameters) > 1 else 1))
    return Event(name, amount)


def plan(events: Iterable[Any] | Mapping[Any, int]) -> Plan:
    """The distinct events with how often each occurs, in the order of their first appearance."""
    counts: Counter[Event] = Counter()
    if isinstance(events, Mapping):
        for given, count in events.items():
            counts[event(given)] += whole(count, "how often", least=1)
    elif isinstance(events, str) or not isinstance(events, Iterable):
        raise event_malformed(repr(events))
    else:
        for given, count in _tallied(list(events)):
            counts[event(given)] += count
    if not counts:
        raise no_events()
    return tuple(counts.items())


def _tallied(events: list[Any]) -> Iterable[tuple[Any, int]]:
    """Equal tuples are read once; what cannot be hashed is read one by one."""
    try:
        # As keys 1, 1.0 and True are the same, so the types belong to the key: ("laplace", True) must be refused.
        tallied = Counter((given, *map(type, given)) if isinstance(given, tuple) else (given,) for given in events)
    except TypeError:
        return [(given, 1) for given in events]
    return [(key[0], count) for key, count in tallied.items()]


def _recorded(record: Mapping[str, str]) -> Event:
    name = record.get("mechanism")
    if name not in RECORDED:
        raise event_unknown(str(name), RECORDED)
    if name in RANKS:
        return _of_ranks(record)
    needed: dict[str, tuple[str, ...]] = {
        "key_selection": ("epsilon", "delta"),
        "key_threshold": ("rho", "delta"),
        "discrete_laplace": ("sensitivity", "scale"),
        "discrete_gaussian": ("sensitivity", "variance"),
    }
    needed["bounded_sum"] = needed["found_ends"] = ("rho" if "rho" in record else "epsilon",)
    if "sensitivity_squared" in record:
        needed["discrete_gaussian"] = ("sensitivity_squared", "variance")
        needed["exponential"] = ("epsilon", "sensitivity", "sensitivity_squared")
    try:
        first, *second = (Fraction(record[key]) for key in needed.get(name, ("epsilon",)))
    except (KeyError, ValueError, TypeError, ZeroDivisionError):
        raise event_malformed(f"this record of {name}") from None
    if first <= 0 or any(number <= 0 for number in second):
        raise event_malformed(f"this record of {name}")
    match name:
        case "discrete_laplace":
            return Event("pure", first / second[0])
        case "discrete_gaussian":
            squared = first if "sensitivity_squared" in record else first**2
            return Event("zcdp", _up(squared / (2 * second[0])))
        case "exponential" if second:
            # ε is for all of the sensitivity in one group; of a row it is ε over it.
            return Event("zcdp", _up((first / second[0]) ** 2 * second[1] / 8))
        case "key_selection":
            return Event("approximate", first, second[0])
        case "key_threshold":
            return Event("zcdp", _up(first), second[0])
        case "bounded_sum" | "found_ends":
            return Event("zcdp" if "rho" in record else "pure", _up(first) if "rho" in record else first)
        case _:
            return Event(name, first)


def _of_ranks(record: Mapping[str, str]) -> Event:
    """Quantiles: an estimate at each depth, an exponential choice or (flip) permute-and-flip, and noisy counts.

    Of choices and Gaussian noise their zCDP; with Laplace noise, which is used in pure ε alone, the sum of all ε.
    Before there were counts, each estimate had two bars, which were choices too.
    """
    try:
        estimates, bars = ([Fraction(n) for n in record.get(part, "0").split(", ")] for part in ("estimates", "bars"))
        pure, rho = (Fraction(record.get(part, "0")) for part in ("counts", "counts_rho"))
        rows = Fraction(record["rows"])
        squared = Fraction(record.get("rows_squared", rows**2))
    except (AttributeError, KeyError, ValueError, TypeError, ZeroDivisionError):
        raise event_malformed(f"this record of {record['mechanism']}") from None
    given = [least for part, least in (("bars", min(bars)), ("counts", pure), ("counts_rho", rho)) if part in record]
    if len(given) != 1 or min(*estimates, rows, squared, *given) <= 0 or (record["mechanism"] == "rank_flip" and rho):
        raise event_malformed(f"this record of {record['mechanism']}")
    if pure or record["mechanism"] == "rank_flip":
        return Event("pure", sum(estimates, pure) + 2 * sum(bars, Fraction(0)))
    squares = sum(epsilon**2 for epsilon in estimates) + 2 * sum(epsilon**2 for epsilon in bars)
    return Event("zcdp", _up(squared / rows**2 * squares / 8 + rho))


def _up(value: Fraction) -> Fraction:
    return Fraction(-(-value.numerator * RHO_GRID // value.denominator), RHO_GRID)
