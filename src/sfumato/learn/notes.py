"""What a model says of itself: where noise rules it. All of it follows from released numbers."""

from sfumato.learn.model import Branches, Fitted, Scores
from sfumato.learn.schedule import SURE

MOSTLY = 0.5
NOTHING = "Noise: the number of all rows is lost in it. This model says nothing; spend more, or use fewer columns."


def lost(rows: int, noise: int) -> bool:
    """Whether a noisy number of rows may as well be noise."""
    return rows < SURE * noise


def notes_on(fitted: Fitted) -> tuple[str, ...]:
    return _on_scores(fitted) if isinstance(fitted, Scores) else _on_branches(fitted)


def _on_branches(fitted: Branches) -> tuple[str, ...]:
    roots = [nodes[0] for nodes in fitted.trees]
    if sum(sum(root.counts) for root in roots) < SURE * sum(root.noise for root in roots) * fitted.classes**0.5:
        return (NOTHING,)
    leaves = [node for nodes in fitted.trees for node in nodes if not node.children]
    ruled = sum(lost(sum(node.counts), round(node.noise * fitted.classes**0.5)) for node in leaves)
    if ruled > MOSTLY * len(leaves):
        return (f"Noise rules {ruled:,} of {len(leaves):,} leaves: they say what the nodes above them say.",)
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
