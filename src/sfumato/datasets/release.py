"""What a careless hospital publishes about the town, and what its neighbours know anyway."""

import numpy as np
import pyarrow as pa

from sfumato.errors import UsageError, did_you_mean, not_a_number, out_of_range, quoted
from sfumato.simulate import Simulator

_IDENTIFIERS = ("person_id", "name")
_PUBLIC = ("name", "zip", "birth_date", "sex")


def deidentify(table: pa.Table) -> pa.Table:
    """The table without name and person_id, its rows in the same order.

    This is not anonymous: `sfumato.attacks.linking` names most of its rows again with a voter list.
    """
    _need(table, _IDENTIFIERS)
    return table.drop_columns(list(_IDENTIFIERS))


def voter_list(table: pa.Table, seed: int = 0, coverage: float = 0.8) -> pa.Table:
    """Name, zip, birth date and sex of a share of the persons, one row per person, in order of name.

    Claim: exactly the share `coverage` of the persons, rounded to whole persons and never none, chosen with the seed.
    """
    _need(table, ("person_id", *_PUBLIC))
    if isinstance(coverage, bool) or not isinstance(coverage, int | float):
        raise not_a_number("coverage", repr(coverage))
    if not 0 < coverage <= 1:
        raise out_of_range("coverage", "0 (excluded)", "1", str(coverage))
    simulator = Simulator(seed)
    first_rows = np.unique(table["person_id"].to_numpy(), return_index=True)[1]
    wanted = max(1, round(coverage * len(first_rows))) if len(first_rows) else 0
    chosen = first_rows[simulator.stream("voter list").permutation(len(first_rows))[:wanted]]
    listed = table.select(list(_PUBLIC)).take(np.sort(chosen))
    return listed.sort_by([(column, "ascending") for column in _PUBLIC])


def _need(table: pa.Table, columns: tuple[str, ...]) -> None:
    if not isinstance(table, pa.Table):
        raise UsageError(
            f"a {type(table).__name__} is not a town.", "Pass the Arrow table that sfumato.datasets.population() gave."
        )
    for column in columns:
        if column not in table.column_names:
            raise UsageError(
                f'the table has no column "{column}".{did_you_mean(column, table.column_names)}',
                f"It has {quoted(table.column_names)}.",
            )
