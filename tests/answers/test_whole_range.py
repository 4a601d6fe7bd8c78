"""A bar that holds all that bounds allow is told as what it is: nothing."""

import pytest

from sfumato.answers import display
from sfumato.answers.answer import Answer
from tests.answers.test_answer import answered
from tests.query.asking import walk


def answer(aggregate: str, numbers: tuple[int, ...]) -> Answer:
    return answered(walk(f"SELECT {aggregate} AS x FROM people"), [numbers])


@pytest.mark.parametrize(
    ("aggregate", "lost", "known"),
    [
        ("AVG(age)", (5, 1), (0, 5000)),
        ("STDDEV(age)", (5, 5, 1), (0, 900 * 5000, 5000)),
        ("VAR_POP(age)", (5, 5, 1), (0, 900 * 5000, 5000)),
    ],
)
def test_a_mean_that_is_lost_in_noise_has_a_dash(aggregate: str, lost: tuple[int, ...], known: tuple[int, ...]) -> None:
    nothing, something = answer(aggregate, lost), answer(aggregate, known)
    assert display.readable(nothing, 0.95)[1][0]["x ±"] == "–"
    assert display.NO_BAR in str(nothing)
    columns, (row,) = display.readable(something, 0.95)
    assert row[columns[1]] != "–"
    assert display.NO_BAR not in str(something)


def test_groups_whose_bar_says_nothing_hide_no_other_in_a_plot() -> None:
    """A whisker from 0 to 120 would flatten all others."""
    walked = walk("SELECT grade, AVG(age) AS x FROM people GROUP BY grade")
    answer = answered(walked, [(0, 5000), (5, 1), (300, 5000)])
    (drawn,) = answer.plot().data
    assert list(drawn.x) == ["1", "3"]
    assert "x by grade; noise stays inside the error bars in 95 of 100 cases; 1 group with a bar from end to end" in (
        answer.to_html()
    )
    lost = answered(walked, [(5, 1)] * 3)
    assert len(lost.plot().data[0].x) == 3


def test_a_count_has_no_ends_to_reach() -> None:
    assert display.NO_BAR not in str(answer("COUNT(*)", (0,)))
