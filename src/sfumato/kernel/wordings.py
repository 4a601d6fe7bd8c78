"""What the kernel says to people; how it refuses a plan that no question makes stands in `errors`."""

from collections.abc import Mapping
from types import MappingProxyType

from sfumato.errors import ReceiptUsed, Refused
from sfumato.schema.allow import Family

# What a mechanism does, and what can be asked without it.
SWITCHED_OFF: Mapping[Family, tuple[str, str]] = MappingProxyType(
    {
        "additive": ("noise added to counts and sums (additive)", "Medians and most frequent values need none."),
        "keys": (
            "discovering the values of a key (keys)",
            "Group by a column whose values are declared, a category or bounded whole numbers.",
        ),
        "ranks": ("choosing quantiles by their rank (ranks)", "HISTOGRAM and CDF show where values lie."),
        "choice": ("choosing the most frequent value (choice)", "Group by the column and count: the largest is it."),
        "found_bounds": ("finding bounds privately (found_bounds)", "Ask about a column with declared bounds."),
        "splits": (
            "choosing questions that divide rows (splits)",
            "Learners that count and add up, as naive Bayes does, need none.",
        ),
        "running": ("running totals (running)", "HISTOGRAM counts the same rows, bin by bin."),
    }
)


def mechanism_switched_off(family: Family) -> Refused:
    what, instead = SWITCHED_OFF[family]
    return Refused(
        f"the owner has switched {what} off; what was answered before stays free.",
        f"{instead} Or ask the owner to allow it: [allow] mechanisms in the policy.",
    )


def join_multiplies(rows: int, others: int, most: int) -> Refused:
    return Refused(
        f"this join pairs up to {rows:,} rows of a person with {others:,}: more than {most:,} in all, and one person "
        "could slow it down.",
        "Put the rows of one side together first: JOIN (SELECT id, COUNT(*) AS many FROM t GROUP BY id) AS x "
        "USING (id), with the unit's id; or ask the owner for a lower max_rows of one of the tables.",
    )


def receipt_used() -> ReceiptUsed:
    return ReceiptUsed("this receipt has been used or belongs to another plan.", "Ask again; a stored answer is free.")
