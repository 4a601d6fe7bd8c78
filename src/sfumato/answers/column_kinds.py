"""What a column of an answer holds, in a word."""

from sfumato.query.rewrite import (
    CdfColumn,
    CountColumn,
    FoundBinsColumn,
    FoundMeanColumn,
    FoundSpreadColumn,
    FoundSumColumn,
    HistogramColumn,
    KeyColumn,
    MeanColumn,
    ModeColumn,
    OutputColumn,
    QuantileColumn,
    SpreadColumn,
    SumColumn,
)

FORMULA = "formula"  # of what is computed from several


def kind_of(column: OutputColumn) -> str:
    """As in `--format json`; bounds that were declared and bounds that were found make the same kinds."""
    match column:
        case KeyColumn():
            return "key"
        case CountColumn():
            return "count"
        case SumColumn() | FoundSumColumn():
            return "sum"
        case MeanColumn() | FoundMeanColumn():
            return "mean"
        case SpreadColumn(spread=spread) | FoundSpreadColumn(spread=spread):
            return "deviation" if spread.root else "variance"
        case QuantileColumn():
            return "quantile"
        case ModeColumn():
            return "mode"
        case HistogramColumn():
            return "histogram"
        case CdfColumn():
            return "shares"
        case FoundBinsColumn(ends=ends):
            return "histogram" if ends.wanted == "bins" else "shares"
