"""How much of one person a question counts."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caps:
    """At most `rows` rows of a person, in at most `groups` groups, at most `rows_per_group` in each of them.

    Claim: whole numbers m of rows, one for each of at most `groups` groups, none above `rows_per_group` and together at
    most `rows`, have Σ m <= l1 and Σ m² <= l2_squared; both are reached.
    Proof: docs/proofs/contribution-bounding.md, "Caps".
    """

    rows: int
    groups: int
    rows_per_group: int

    def __post_init__(self) -> None:
        numbers = self.rows, self.groups, self.rows_per_group
        if not all(type(number) is int and 1 <= number <= self.rows for number in numbers):
            raise ValueError("caps are whole numbers from 1 on, and none is above the cap of rows")

    @property
    def l1(self) -> int:
        return min(self.rows, self.groups * self.rows_per_group)

    @property
    def l2_squared(self) -> int:
        full, rest = divmod(self.l1, self.rows_per_group)
        return full * self.rows_per_group**2 + rest**2

    @property
    def always(self) -> bool:
        """Whether `rows_per_group` alone keeps a person with all their groups within `rows`."""
        return self.groups * self.rows_per_group <= self.rows


ONE_ROW = Caps(1, 1, 1)
