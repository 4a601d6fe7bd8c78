"""Which error bars of quantiles stop where what is declared ends, because noise leaves nothing nearer."""

from collections.abc import Sequence

from sfumato.answers.cells import at_ends
from sfumato.answers.columns import CONFIDENCE, Noises, interval_of
from sfumato.errors import so_many
from sfumato.kernel.certify import Certified
from sfumato.kernel.mechanisms.protocol import Released
from sfumato.query.rewrite import OutputColumn, QuantileColumn


def bars_to_ends(
    certified: Certified, columns: Sequence[OutputColumn], values: Sequence[tuple[Released, ...]]
) -> list[str]:
    """One sentence for each quantile and end; below a smallest value and above a largest it is known beforehand."""
    noises = Noises(tuple(release.mechanism for release in certified.releases), CONFIDENCE)
    said = []
    for column in columns:
        if not isinstance(column, QuantileColumn):
            continue
        bars = [interval_of(column, row, noises) for row in values]
        met = [at_ends(column, bar) for bar in bars if isinstance(bar, tuple)]
        for side, (level, end) in enumerate(((0, "lower"), (1, "upper"))):
            many = sum(pair[side] for pair in met)
            if many and column.quantile.level != level:
                said.append(_sentence(column, end, many, len(met)))
    return said


def _sentence(column: QuantileColumn, end: str, many: int, groups: int) -> str:
    where = "" if groups == 1 else f"in {so_many(many, 'group')} of {groups:,} "
    of = "the declared bounds" if column.quantile.step is None else "all numbers there can be"
    return (
        f"{column.name}: {where}the error bar goes to the {end} end of {of}, because noise hides whether it could stop "
        "before."
    )
