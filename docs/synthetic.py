"""Measures what docs/explanation/synthetic-data.md says, and draws its figure: python -m docs.synthetic (minutes)."""

from collections.abc import Mapping
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

import sfumato as sf
from benchmarks.learn_synthetic import (
    DELTA,
    FITS,
    apart_from,
    asked_and_drawn,
    classified,
    fitted,
    opened,
    whole_census,
)
from benchmarks.learn_tables import census
from docs.markdown import between, table
from sfumato.learn import Comparison
from sfumato.plots.style import FILL, GRID, INK, RUST

HERE = Path(__file__).parent
PAGE = HERE / "explanation" / "synthetic-data.md"
PICTURE = HERE / "images" / "synthetic" / "wrong-answers.svg"
MARGINALS = PICTURE.with_name("marginals.svg")
COMPARED, SPEND_ON_IT = ("age", "education"), 0.5
LEAST = 0.01  # percent: what is less, and an error of 0, stands at the left end
SHORT = 12  # letters of a label
END = "<!-- end -->"

Errors = Mapping[str, tuple[float, float]]  # in percent: of synthetic rows, and asked


def asked_table(errors: Errors) -> str:
    rows = [
        (name, f"{drawn:.2g} %", f"{direct:.2g} %", f"{drawn / direct:.2g}" if direct else "–")
        for name, (drawn, direct) in errors.items()
    ]
    return table(("question", "error of synthetic rows", "error of asking", "times"), rows)


def classified_table(scores: Mapping[str, tuple[float, float]]) -> str:
    rows = [(name, f"{direct:.3f}", f"{drawn:.3f}") for name, (direct, drawn) in scores.items()]
    return table(("ε = 1", "AUC of `Additive`", "AUC of a regression on synthetic rows"), rows)


def draw(errors: Errors, path: Path) -> None:
    """Both errors of each question on one line, on a scale of factors."""
    errors = {name: (max(drawn, LEAST), max(direct, LEAST)) for name, (drawn, direct) in errors.items()}
    with rc_context({"svg.hashsalt": "sfumato", "svg.fonttype": "none", "font.size": 9}):
        drawing = Figure(figsize=(8.5, 3.8))
        axes = drawing.subplots()
        places = np.arange(len(errors))[::-1]
        for place, pair in zip(places, errors.values(), strict=True):
            axes.plot(pair, (place, place), color=GRID, linewidth=3, zorder=0)
        for which, (colour, label) in enumerate(((RUST, "of synthetic rows"), (FILL, "asked directly"))):
            axes.scatter([pair[which] for pair in errors.values()], places, color=colour, label=label)
        axes.set_xscale("log")
        axes.set_yticks(places, list(errors))
        axes.set_xlabel("median error in % of the truth, ε = 1 in all", color=INK)
        axes.legend(frameon=False)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        drawing.tight_layout()
        drawing.savefig(path, format="svg", metadata={"Date": None})


def compared() -> Comparison:
    """Two columns of a synthetic table beside private counts that were paid for by themselves."""
    rows, columns = whole_census()
    with TemporaryDirectory() as folder, opened(rows, columns, Path(folder), 1 + SPEND_ON_IT) as session:
        model = sf.learn.Synthetic(spend=1).fit(session)
        return model.compared_in(session, spend=SPEND_ON_IT, columns=COMPARED)


def draw_marginals(found: Comparison, path: Path) -> None:
    """Bars of synthetic rows, points of private counts with two standard deviations of their noise."""
    with rc_context({"svg.hashsalt": "sfumato", "svg.fonttype": "none", "font.size": 8}):
        drawing = Figure(figsize=(9.5, 3.6))
        for axes, one in zip(drawing.subplots(1, len(found.columns)), found.columns, strict=True):
            places = np.arange(len(one.labels))
            axes.bar(places, one.synthetic, color=FILL, label="synthetic, ε = 1")
            asked = f"asked privately, ε = {SPEND_ON_IT / len(found.columns):g}, ±2 standard deviations"
            axes.errorbar(places, one.private, 2 * one.noise, color=INK, fmt=".", markersize=3, lw=1, label=asked)
            step = 1 + len(places) // 20
            axes.set_xticks(places[::step], [label[:SHORT] for label in one.labels[::step]], rotation=90)
            axes.set_title(str(one), fontsize=8, color=INK)
            for side in ("top", "right"):
                axes.spines[side].set_visible(False)
        handles, labels = axes.get_legend_handles_labels()
        drawing.legend(handles, labels, frameon=False, ncols=2, loc="lower center")
        drawing.tight_layout(rect=(0, 0.06, 1, 1))
        drawing.savefig(path, format="svg", metadata={"Date": None})


def main() -> None:
    errors = asked_and_drawn()
    data, (rows, columns) = census(), whole_census()
    scores = {name: classified(data, delta) for name, delta in (("pure ε", 0.0), ("δ = 10⁻⁶", 1e-6))}
    distance = mean(apart_from(rows, fitted(rows, columns, 1.0, DELTA)[0]) for _ in range(FITS))
    text = PAGE.read_text(encoding="utf-8")
    text = between(text, "<!-- asked -->", f"\n\n{asked_table(errors)}\n\n", END)
    text = between(text, "<!-- classified -->", f"\n\n{classified_table(scores)}\n\n", END)
    text = between(text, "<!-- apart -->", f"{100 * distance:.1f} of 100 rows", END)
    PAGE.write_text(text, encoding="utf-8")
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    draw(errors, PICTURE)
    draw_marginals(compared(), MARGINALS)


if __name__ == "__main__":
    main()
