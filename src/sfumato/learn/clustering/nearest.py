"""Which centre is nearest to a row, as expressions of a plan: exact, with ties for the first, and of few operators.

Of k centres each has a key, (2c·x - |c|² + offset) · k + k - 1 - place. No two keys are equal, and the largest is that
of the nearest centre, of several the first. Keys are whole numbers from 0 to below `base`, so that two of them share
one number, first + base · second: x is multiplied once for both. The largest of the numbers has the largest second
key, and what `base` leaves of each of them are the first keys.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sfumato.plan.expressions import Arithmetic, Call, Column, Expression, Number, RangeKey
from sfumato.plan.sources import Computed, Rows, Source
from sfumato.schema.columns import Int


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of so many centres in so many columns, whose values and coordinates are from -reach to reach.

    Needs: base² below 2^52, so that all that is added up is exact in doubles. `plan.work` allows for far less.
    """

    centres: tuple[tuple[int, ...], ...]
    reach: int

    @property
    def many(self) -> int:
        return len(self.centres)

    @property
    def offset(self) -> int:
        return 3 * self.reach**2 * len(self.centres[0])

    @property
    def base(self) -> int:
        return (4 * self.reach**2 * len(self.centres[0]) + 1) * self.many

    def key(self, place: int) -> tuple[list[int], int]:
        """What each column is multiplied by, and what is added."""
        centre = self.centres[place]
        constant = self.offset - sum(one**2 for one in centre)
        return [2 * one * self.many for one in centre], constant * self.many + self.many - 1 - place

    def pairs(self) -> list[tuple[list[int], int]]:
        """The same of two keys at once; one that is left over goes with a key of 0, which is never the largest."""
        made = []
        for place in range(0, self.many, 2):
            first, constant = self.key(place)
            second, other = self.key(place + 1) if place + 1 < self.many else ([0] * len(first), 0)
            factors = [one + self.base * two for one, two in zip(first, second, strict=True)]
            made.append((factors, constant + self.base * other))
        return made


def placed(
    source: Source, names: Sequence[str], places: Sequence[int], keys: Keys, unused: Callable[[str], str]
) -> tuple[Rows, RangeKey]:
    """The same rows and columns, with the place of the centre beside them that is nearest by the columns at `places`;
    and that place as cells.

    Needs: no value is missing.
    """
    passed = [Computed(name, Column(name), Int(-keys.reach, keys.reach)) for name in names]
    looked_at, largest = [names[place] for place in places], Int(0, keys.base**2)
    both = [Computed(unused(f"both{pair}"), _added(looked_at, *key), largest) for pair, key in enumerate(keys.pairs())]
    firsts = [
        Computed(unused(f"first{pair}"), _left(Column(one.name), keys.base), Int(0, keys.base))
        for pair, one in enumerate(both)
    ]
    top = Computed(unused("top"), _largest(both), largest)
    first = Computed(unused("first"), _largest(firsts), Int(0, keys.base))
    second = Computed(
        unused("second"), Call("FLOOR", (Arithmetic("/", Column(top.name), _number(keys.base)),)), first.declared
    )
    key = Computed(unused("key"), _largest([first, second]), first.declared)
    from_last = Arithmetic("-", _number(keys.many - 1), _left(Column(key.name), keys.many))
    place = Computed(unused("centre"), from_last, Int(0, max(1, keys.many - 1)))
    made = Rows(source, None, (*passed, *both))
    for more in ([*firsts, top], [first, second], [key], [place]):
        made = Rows(made, None, (*passed, *more))
    return made, RangeKey(Column(place.name), 0, keys.many - 1)


def _added(names: Sequence[str], factors: Sequence[int], constant: int) -> Expression:
    total: Expression = _number(constant)
    for name, factor in zip(names, factors, strict=True):
        if factor:
            total = Arithmetic("+", total, Arithmetic("*", Column(name), _number(factor)))
    return total


def _largest(given: Sequence[Computed]) -> Expression:
    columns = tuple(Column(one.name) for one in given)
    return columns[0] if len(columns) == 1 else Call("GREATEST", columns)


def _left(value: Expression, divisor: int) -> Expression:
    """What is left when a whole number from 0 on is divided."""
    return Call("MOD", (value, _number(divisor)))


def _number(value: int) -> Number:
    return Number(Fraction(value))
