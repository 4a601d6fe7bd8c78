"""An answer for people, in HTML: a fragment in a notebook, and a page of its own with plots."""

from textwrap import shorten
from typing import TYPE_CHECKING, Any

from sfumato.answers.display import keys_of, listed, readable, sentences
from sfumato.answers.picture import column_of, is_drawable, left_out, picture
from sfumato.answers.rounding import Written, is_number, number
from sfumato.errors import so_many
from sfumato.plots.fragment import fragment
from sfumato.plots.page import Block, Cell, Code, Facts, Figure, Section, Table, escaped, page, table
from sfumato.query.rewrite import ModeColumn

if TYPE_CHECKING:
    from sfumato.answers.answer import Answer

MOST_IN_NOTEBOOK = 100
MOST_ON_PAGE = 1000
LONGEST_TITLE, CUT_TITLE = 240, 100  # of a question over its page: a longer one is cut there, and stands below whole
NO_ROWS = "There is no group to show."


def as_fragment(answer: "Answer", confidence: float) -> str:
    """For a notebook: a table and its sentences, every text escaped, no script and nothing fetched."""
    shown, hidden = _table(answer, confidence, MOST_IN_NOTEBOOK)
    lines = [*hidden, *sentences(answer, confidence)]
    bins = "".join(table(block) for block in _bins(answer, confidence, MOST_IN_NOTEBOOK) if isinstance(block, Table))
    return fragment(f"{table(shown)}{bins}<p>{'<br>'.join(map(escaped, lines))}</p>")


def as_page(answer: "Answer", confidence: float, *, static: bool = False) -> str:
    """One file that works without a network: plots, numbers, price, what is hidden. Its title is the question."""
    shown, hidden = _table(answer, confidence, MOST_ON_PAGE)
    facts = {"cost of this question": _brief(answer.cost.epsilon), "left": _brief(answer.left.epsilon)}
    if answer.more is not None:
        facts["more questions like this"] = f"{answer.more:,}"
    covers = "Error bars cover the noise and nothing else."
    title = " ".join(answer.question.split())
    if len(title) > LONGEST_TITLE:
        title = shorten(title, CUT_TITLE, placeholder=" …")
    return page(
        title,
        [
            Section(
                "The answer", [*_drawn(answer, confidence), shown, *hidden, *_bins(answer, confidence, MOST_ON_PAGE)]
            ),
            Section("What the error bars cover", [covers, *answer.notes]),
            Section("What it cost", sentences(answer, confidence)[:3]),
        ],
        lead=[*([Code(answer.question)] if title != answer.question else []), Facts(facts)],
        footer="Made with Sfumato.",
        code_title=True,
        static=static,
    )


def _drawn(answer: "Answer", confidence: float) -> list[Block]:
    """A single number is set large; of all else there is a plot."""
    drawn: list[Block] = [] if answer.rows else [NO_ROWS]
    alone = len(answer.rows) == 1 and not keys_of(answer)
    if alone and (facts := _facts(answer, confidence)):
        drawn.append(Facts(facts))
    plotted = [
        column
        for column in answer.measured
        if is_drawable(answer, column) and not (alone and is_number(answer.rows[0][column]))
    ]
    return drawn + [
        Figure(picture(answer, column, confidence), _takeaway(answer, column, confidence)) for column in plotted
    ]


def _facts(answer: "Answer", confidence: float) -> dict[str, str]:
    columns, (row,) = readable(answer, confidence)
    found = {}
    for column in answer.measured:
        if is_number(row[column]):
            bar = row[columns[columns.index(column) + 1]]
            how = "± " if is_number(bar) else ""
            found[column] = f"{number(row[column])} {how}{number(bar) if is_number(bar) else f'({bar})'}"
    return found


def _takeaway(answer: "Answer", column: str, confidence: float) -> str:
    keys = keys_of(answer)
    what = f"{column} by {', '.join(keys)}" if keys else column
    if isinstance(column_of(answer, column), ModeColumn):
        return f"{what}; a most frequent value has no error bar"
    said = f"{what}; noise stays inside the error bars in {100 * confidence:g} of 100 cases"
    hidden = left_out(answer, column, confidence)
    return f"{said}; {so_many(hidden, 'group')} with a bar from end to end left out" if hidden else said


def _table(answer: "Answer", confidence: float, most: int) -> tuple[Table, list[str]]:
    columns, rows = readable(answer, confidence)
    cells = [[_cell(row[name]) for name in columns] for row in rows[:most]]
    hidden = [f"The first {most:,} of {len(rows):,} rows."] if len(rows) > most else []
    return Table(columns, cells), hidden


def _bins(answer: "Answer", confidence: float, most: int) -> list[Block]:
    found: list[Block] = []
    for part in listed(answer, confidence, most):
        cells = [[_cell(row[name]) for name in part.columns] for row in part.rows]
        found += [Table(part.columns, cells, part.column), *part.rest]
    return found


def _cell(value: Any) -> Cell:
    if isinstance(value, float):
        return Written(value, number(value))
    return value if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _brief(value: float) -> str:
    return f"epsilon {value:.3g}"
