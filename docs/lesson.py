"""Takes a decision tree with noisy counts apart, and draws the private one beside it: python -m docs.lesson

The tree is grown as lecture notes and blogs grow it: at every node it tries every question, and the entropies of each
question are made of counts with fresh noise. Here the counts are exact: what is added up is what they would cost.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp, log2, sqrt
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.figure import Figure

import sfumato as sf
from benchmarks.real.tables import real
from sfumato.learn.shown.pictures import asked
from sfumato.plots.style import FILL, GRID, INK, RUST
from sfumato.simulate import Simulator

PICTURE = Path(__file__).parent / "images" / "lesson" / "two-trees.svg"
TARGET, CLASSES = "survived", ("no", "yes")
COLUMNS: dict[str, Any] = {
    "sex": sf.Category(["female", "male"]),
    "age": sf.Float(0, 100),
    "passengerClass": sf.Category(["1st", "2nd", "3rd"]),
    TARGET: sf.Category(list(CLASSES)),
}
DEPTH = 2
TRIED = 20  # rows that the tree was tried on, all of them fitted


def titanic() -> pd.DataFrame:
    return pd.read_parquet(real("titanic"))[list(COLUMNS)]


def truth(frame: pd.DataFrame) -> np.ndarray:
    return np.asarray(frame[TARGET] == CLASSES[1], dtype=np.bool_)


# ---- the tree with noisy counts


@dataclass(frozen=True)
class Taken:
    """A node: its question, what was tried there, and what that asked of the rows."""

    rows: int
    yes: int
    question: str
    candidates: int
    counts: int  # with noise of their own
    negative: float  # of these, as many as are expected below 0 with noise of scale 1
    children: tuple["Taken", ...]

    def walk(self) -> Iterator["Taken"]:
        yield self
        for child in self.children:
            yield from child.walk()

    @property
    def price(self) -> int:
        """The ε of one person, in those of one count: a class and a total, of all rows and of a side, per question."""
        return 4 * self.candidates + max((child.price for child in self.children), default=0)


def questions(frame: pd.DataFrame) -> dict[str, Any]:
    """Every value that occurs as a threshold, every set of values that occur: of the data, not of a declaration."""
    found = {}
    for value in sorted(frame["age"].dropna().unique())[1:]:
        found[f"age < {value:.4g}"] = (frame["age"] < value).to_numpy()
    for name in ("sex", "passengerClass"):
        values = sorted(frame[name].unique())
        for part in range(1, 2 ** (len(values) - 1)):  # a set or its complement: once
            chosen = [value for place, value in enumerate(values) if part >> place & 1]
            found[f"{name} in {', '.join(chosen)}"] = frame[name].isin(chosen).to_numpy()
    return {words: mask for words, mask in found.items() if 0 < mask.sum() < len(mask)}


def entropy(survived: np.ndarray) -> float:
    *classes, every = asked_for(survived)
    return -sum(count / every * log2(count / every) for count in classes)


def asked_for(survived: np.ndarray) -> list[int]:
    """The counts of one entropy: of every class that occurs, and of all."""
    yes = int(survived.sum())
    return [*(count for count in (yes, len(survived) - yes) if count), len(survived)]


def taken_apart(frame: pd.DataFrame, depth: int = DEPTH) -> Taken:
    labels = truth(frame)
    yes = int(labels.sum())
    tried = questions(frame) if depth and 0 < yes < len(labels) else {}
    if not tried:
        return Taken(len(labels), yes, "", 0, 0, 0.0, ())
    gains, counts = {}, []
    for words, mask in tried.items():
        sides = labels[mask], labels[~mask]
        gains[words] = entropy(labels) - sum(len(side) * entropy(side) for side in sides) / len(labels)
        counts += [count for part in (labels, *sides) for count in asked_for(part)]
    best = max(gains, key=gains.__getitem__)
    below = (taken_apart(frame[side], depth - 1) for side in (~tried[best], tried[best]))
    negative = sum(below_zero(count) for count in counts)
    return Taken(len(labels), yes, best, len(tried), len(counts), negative, tuple(below))


def below_zero(count: int) -> float:
    """How likely a count is cut off at -1 or lower, with Laplace noise of scale 1."""
    return exp(-(count + 1)) / 2


def lost_without(frame: pd.DataFrame) -> tuple[int, str]:
    """Somebody whose age nobody else has, and the question that nobody can ask without them."""
    ages = frame["age"].dropna()
    once = sorted(ages[~ages.duplicated(keep=False)])
    row = int(ages.index[ages == once[-1]][0])
    gone = questions(frame).keys() - questions(frame.drop(row)).keys()
    return row, sorted(gone)[0]


def predicted(node: Taken, frame: pd.DataFrame) -> np.ndarray:
    if not node.children:
        return np.full(len(frame), node.yes > node.rows - node.yes)
    name, _, rest = node.question.partition(" ")
    side = frame[name] < float(rest[2:]) if rest.startswith("<") else frame[name].isin(rest[3:].split(", "))
    return np.where(side, predicted(node.children[1], frame), predicted(node.children[0], frame))


def right_on_its_own(frame: pd.DataFrame) -> tuple[int, float]:
    """How many of the first rows that were fitted, and which share of rows that were not, in five folds."""
    node = taken_apart(frame)
    first = frame.iloc[:TRIED]
    own = int((predicted(node, first) == truth(first)).sum())
    return own, mean(float((predicted(taken_apart(train), test) == truth(test)).mean()) for train, test in folds(frame))


def folds(frame: pd.DataFrame) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
    place = Simulator(2).stream("folds").permutation(len(frame)) % 5
    for fold in range(5):
        yield frame[place != fold], frame[place == fold]


def spread(share: float, rows: int) -> float:
    """One standard error of a share of so many rows."""
    return sqrt(share * (1 - share) / rows)


# ---- the private tree


def private(frame: pd.DataFrame, epsilon: float = 1) -> Any:
    """Fitted through a session of its own; a declaration says about how many rows there are."""
    with TemporaryDirectory() as folder:
        session = sf.protect(
            frame, table="titanic", unit=sf.Row(), columns=COLUMNS, budget=sf.Budget(epsilon),
            ledger=Path(folder) / "titanic.ledger", expected_rows=1300,
        )  # fmt: skip
        with session:
            return sf.learn.Tree(TARGET, spend=epsilon).fit(session)


def right_in_private(frame: pd.DataFrame, fits: int = 1) -> float:
    """The share of rows that were not fitted, in five folds, several fits each."""
    return mean(
        float((private(train).predict(test) == test[TARGET]).mean())
        for train, test in folds(frame)
        for _ in range(fits)
    )


# ---- the figure


def draw(path: Path) -> None:
    frame = titanic()
    with rc_context({"svg.hashsalt": "sfumato", "svg.fonttype": "none", "font.size": 8.5}):
        drawing = Figure(figsize=(12.5, 5.2))
        left, right = drawing.subplots(1, 2)
        node = taken_apart(frame)
        _boxes(left, _left(node), RUST)
        left.set_title(f"A tree with noisy counts: one person pays {node.price:,} ε, and more", color=INK)
        model = private(frame)
        _boxes(right, _right(model.model_), FILL)
        right.set_title("The private tree: ε = 1 for all of it", color=INK)
        drawing.tight_layout()
        drawing.savefig(path, format="svg", metadata={"Date": None})


Box = tuple[str, tuple[int, ...]]


def _left(top: Taken) -> list[Box]:
    nodes = list(top.walk())
    numbers = {id(node): number for number, node in enumerate(nodes)}
    return [(_words(node), tuple(numbers[id(child)] for child in node.children)) for node in nodes]


def _words(node: Taken) -> str:
    if not node.children:
        return f"{node.yes:,} of {node.rows:,}\nsurvived"
    tried = f"{node.candidates} questions tried\n{node.counts:,} noisy counts"
    return f"{node.question}?\n{node.rows:,} rows, exact\n{tried}"


def _right(model: Any) -> list[Box]:
    made = []
    for node in model.fitted.trees[0]:
        counts = f"about {node.counts[1]:,} of {sum(node.counts):,}\nsurvived, ±{node.noise} each"
        asking = f"{asked(model.features[node.column], node.right)}?\nchosen privately\n" if node.children else ""
        made.append((asking + counts, node.children))
    return made


def _boxes(axes: Any, nodes: list[Box], colour: str) -> None:
    places: dict[int, tuple[float, int]] = {}

    def put(number: int, level: int, begin: float) -> float:
        _, children = nodes[number]
        end = begin if children else begin + 1
        for child in children:
            end = put(child, level + 1, end)
        places[number] = (begin + end - 1) / 2, -level
        return end

    wide = put(0, 0, 0.0)
    for number, (text, children) in enumerate(nodes):
        x, y = places[number]
        for child, answer in zip(children, ("no", "yes"), strict=False):
            axes.plot([x, places[child][0]], [y, places[child][1]], color=GRID, linewidth=2, zorder=0)
            axes.text((x + places[child][0]) / 2, (y + places[child][1]) / 2, answer, ha="center", color=INK)
        box = {"boxstyle": "round,pad=0.4", "facecolor": "white", "edgecolor": colour}
        axes.text(x, y, text, ha="center", va="center", color=INK, bbox=box)
    axes.set_xlim(-0.6, wide - 0.4)
    axes.set_ylim(min(y for _, y in places.values()) - 0.4, 0.4)
    axes.axis("off")


if __name__ == "__main__":
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    draw(PICTURE)
    print(f"{PICTURE.name}: {PICTURE.stat().st_size / 1000:.0f} kB")
