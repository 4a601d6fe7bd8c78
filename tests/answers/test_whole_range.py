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


def test_a_count_has_no_ends_to_reach() -> None:
    assert display.NO_BAR not in str(answer("COUNT(*)", (0,)))
