"""Demonstrations as a page and as plots."""

from collections.abc import Sequence
from pathlib import Path

from sfumato.attacks import wordings
from sfumato.attacks.baseline import exceeds_promise, outsiders, unclear
from sfumato.attacks.shows.scene import Demonstration
from sfumato.attacks.staging import Case
from sfumato.plots.attacks import Success, save_picture, successes
from sfumato.plots.bars import percent
from sfumato.plots.page import Cell, Figure, Section, Table, page, write_page

COLUMNS = ("protection", "verdict", "success", "not in the table", "chance", "promised", "attempts")


def bars(shown: Demonstration) -> list[Success]:
    return [case.bar(case.protection) for case in shown.cases]


def verdict(case: Case) -> str:
    """In words. Where outsiders were tried, every protection is held against them; a promise is a further matter."""
    result = case.result
    if outsiders(result) is None:
        return wordings.AGAINST_CHANCE[case.works] if result.bound is None else wordings.AGAINST_PROMISE[case.works]
    if not case.works:
        return wordings.MAY_BE_LUCK if unclear(result) else wordings.NO_MORE
    if result.bound is not None and not exceeds_promise(result):
        return wordings.WITHIN_PROMISE
    return wordings.MORE_ABOUT_MEMBERS


def table(shown: Demonstration) -> Table:
    rows: list[list[Cell]] = [
        [
            case.protection,
            verdict(case),
            percent(case.result.success),
            _share(outsiders(case.result), "–"),
            percent(case.result.chance),
            _share(case.result.bound, "nothing"),
            case.result.attempts,
        ]
        for case in shown.cases
    ]
    return Table(COLUMNS, rows, stacked=True)


def _share(share: float | None, without: str) -> str:
    return without if share is None else percent(share)


def report(shown: Sequence[Demonstration], *, static: bool = False) -> str:
    """One HTML document with a section an attack. `static`: with plots that stand still."""
    sections = [
        Section(
            each.name.replace("_", " "),
            [each.says, *each.notes, Figure(successes(bars(each)), _takeaway(each)), table(each)],
        )
        for each in shown
    ]
    title = f"Attack: {shown[0].name.replace('_', ' ')}" if len(shown) == 1 else "Attacks, before and after"
    return page(title, sections, footer=wordings.RED_IN_SHOWS, static=static)


def save_plot(shown: Sequence[Demonstration], path: Path, *, static: bool = False) -> None:
    """A page for .html, a picture of the first attack for .png and .svg."""
    if path.suffix.lower() == ".html":
        write_page(path, report(shown, static=static))
    else:
        save_picture(shown[0].name.replace("_", " "), bars(shown[0]), path)


def _takeaway(shown: Demonstration) -> str:
    first, last = shown.cases[0], shown.cases[-1]
    return (
        f"{first.protection}: {percent(first.result.success)} right; {last.protection}: "
        f"{percent(last.result.success)}, where {_yardstick(last)}."
    )


def _yardstick(case: Case) -> str:
    others = outsiders(case.result)
    return f"chance gives {percent(case.result.chance)}" + (
        "" if others is None else f" and people who are not in the table are told by {percent(others)}"
    )
