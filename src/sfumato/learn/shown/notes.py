"""What a model says of itself: where noise rules it. All of it follows from released numbers."""

from sfumato.learn.linear.coefficients import FINE, Coefficients
from sfumato.learn.linear.matrices import Correlations, Directions
from sfumato.learn.model import Branches, Centres, Curves, Fitted, Heights, Scores
from sfumato.learn.schedule import SURE
from sfumato.learn.synthesis.likeness import Likeness

MOSTLY = 0.5
NOTHING = "Noise: the number of all rows is lost in it. This model says nothing; spend more, or use fewer columns."


def lost(rows: int, noise: int) -> bool:
    """Whether a noisy number of rows may as well be noise."""
    return rows < SURE * noise


def notes_on(fitted: Fitted) -> tuple[str, ...]:
    match fitted:
        case Scores():
            return _on_scores(fitted)
        case Curves(sums=sums):
            return _on_scores(sums)
        case Branches():
            return _on_branches(fitted)
        case Heights(nodes=nodes):
            return _on_branches(Branches((nodes,)))
        case Coefficients() | Correlations() | Directions():
            return (NOTHING,) if lost(fitted.rows, fitted.noise) else _on_columns(fitted)
        case Centres():
            return _on_centres(fitted)
        case Likeness(rows=rows, noise=noise):
            return (NOTHING,) if lost(rows, noise) else ()


def _on_branches(fitted: Branches) -> tuple[str, ...]:
    roots = [nodes[0] for nodes in fitted.trees]
    if sum(sum(root.counts) for root in roots) < SURE * sum(root.noise for root in roots) * fitted.classes**0.5:
        return (NOTHING,)
    leaves = [node for nodes in fitted.trees for node in nodes if not node.children]
    ruled = sum(lost(sum(node.counts), round(node.noise * fitted.classes**0.5)) for node in leaves)
    if ruled > MOSTLY * len(leaves):
        return (f"Noise rules {ruled:,} of {len(leaves):,} leaves: they say what the nodes above them say.",)
    return ()


def _on_centres(fitted: Centres) -> tuple[str, ...]:
    many = len(fitted.rows)
    if sum(fitted.rows) < SURE * fitted.noise * many**0.5:
        return (NOTHING,)
    ruled = sum(lost(rows, fitted.noise) for rows in fitted.rows)
    if ruled:
        return (f"Noise rules {ruled:,} of {many:,} clusters: few rows or none are near them. Use a smaller k.",)
    return ()


def _on_scores(fitted: Scores) -> tuple[str, ...]:
    cells = [(rows, noise) for column, noise in zip(fitted.rows, fitted.noise, strict=True) for rows in column]
    ruled = sum(lost(rows, noise) for rows, noise in cells)
    total = max(sum(column) for column in fitted.rows)
    widest = max(noise * len(column) ** 0.5 for column, noise in zip(fitted.rows, fitted.noise, strict=True))
    if total < SURE * widest:
        return (NOTHING,)
    if ruled > MOSTLY * len(cells):
        return (f"Noise rules {ruled:,} of {len(cells):,} cells: their weights are near 0, and their errors wide.",)
    return ()


def _on_columns(fitted: Coefficients | Correlations | Directions) -> tuple[str, ...]:
    """Of correlations: columns of which nothing is known to vary."""
    if not isinstance(fitted, Correlations):
        return ()
    many = len(fitted.errors)
    ruled = sum(sum(error >= FINE for error in row) == many - 1 for row in fitted.errors)
    if not ruled:
        return ()
    return (f"Noise rules {ruled} of {many} columns: their correlations are held near 0, ± 1.",)
