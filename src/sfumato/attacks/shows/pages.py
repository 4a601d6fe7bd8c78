"""Demonstrations as a page and as plots."""

from collections.abc import Sequence
from pathlib import Path

from sfumato.attacks.shows.scene import Demonstration
from sfumato.plots.attacks import Success, save_picture, successes
from sfumato.plots.bars import percent
from sfumato.plots.page import Cell, Figure, Section, Table, page, write_page

COLUMNS = ("protection", "success", "chance", "promised", "attempts", "verdict")


def bars(shown: Demonstration) -> list[Success]:
    return [case.bar(case.protection) for case in shown.cases]


def verdict(*, works: bool, promised: bool) -> str:
    if promised:
        return "broken: more than promised" if works else "held: no more than promised"
    return "broken" if works else "not broken by this attack"


def table(shown: Demonstration) -> Table:
    rows: list[list[Cell]] = [
        [
            case.protection,
            percent(case.result.success),
            percent(case.result.chance),
            "nothing" if case.result.bound is None else percent(case.result.bound),
            case.result.attempts,
            verdict(works=case.works, promised=case.result.bound is not None),
        ]
        for case in shown.cases
    ]
    return Table(COLUMNS, rows)


def report(shown: Sequence[Demonstration]) -> str:
    """One HTML document with a section an attack."""
    sections = [
        Section(each.name.replace("_", " "), [each.says, Figure(successes(bars(each)), _takeaway(each), table(each))])
        for each in shown
    ]
    title = f"Attack: {shown[0].name.replace('_', ' ')}" if len(shown) == 1 else "Attacks, before and after"
    return page(
        title, sections, footer="Made by Sfumato. Red: the attack succeeds beyond chance, or beyond the promise."
    )


def save_plot(shown: Sequence[Demonstration], path: Path) -> None:
    """A page for .html, a picture of the first attack for .png and .svg."""
    if path.suffix.lower() == ".html":
        write_page(path, report(shown))
    else:
        save_picture(shown[0].name.replace("_", " "), bars(shown[0]), path)


def _takeaway(shown: Demonstration) -> str:
    first, last = shown.cases[0], shown.cases[-1]
    return (
        f"{first.protection}: {percent(first.result.success)} right; {last.protection}: "
        f"{percent(last.result.success)}, where chance gives {percent(last.result.chance)}."
    )
