"""What a synthetic table looks like: the pairs that it follows, in lines of text, and its columns in figures."""

from typing import Any

from sfumato.learn.model import Model
from sfumato.learn.synthesis.likeness import Likeness
from sfumato.learn.wordings import no_such_part
from sfumato.plots.marginals import marginals


def pairs_told(model: Model, fitted: Likeness) -> list[str]:
    """How many rows there are about, and which columns were measured together."""
    names, tree = [feature.name for feature in model.features], len(fitted.tables)
    lines = [f"about {fitted.rows:,} rows, ±{fitted.noise:,} (one standard deviation)"]
    told = [f"{names[one]} with {names[other]}" for one, other in fitted.pairs]
    lines += [f"a tree of pairs: {', '.join(told[:tree])}"] if tree else []
    lines += [f"further pairs: {', '.join(told[tree:])}"] if told[tree:] else []
    alone = [names[place] for place in fitted.alone]
    return lines + ([f"by itself, whatever the others are: {', '.join(alone)}"] if alone else [])


def marginal_figure(model: Model, fitted: Likeness, column: str | int | None) -> Any:
    """The rows of the synthetic table in each cell of a column, by default of the first."""
    names = [feature.name for feature in model.features]
    if column is not None and column not in names:
        raise no_such_part(str(column), names)
    place = 0 if column is None else names.index(str(column))
    feature, shares = model.features[place], fitted.shares(model.paid.envelope)[place]
    labels = [feature.cells.label(cell) for cell in range(feature.size)]
    return marginals(labels, [round(fitted.rows * float(share)) for share in shares], title=feature.name)
