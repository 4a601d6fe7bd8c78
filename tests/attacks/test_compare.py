"""The comparison: the same table, questions and attacker for every method, and the page in the docs."""

import re
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato.attacks.comparison import COLUMNS, Comparison, compare
from sfumato.attacks.comparison.setting import Question, setting
from sfumato.datasets import population
from sfumato.errors import UsageError

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "compare.md"


@pytest.fixture(scope="module")
def found() -> Comparison:
    small = population(700).select(["age", "education_num", "income", "marital_status"])
    return compare(
        small, quasi=["age", "education_num"], sensitive="marital_status", value="income", epsilons=[0.5, 5], k=4
    )


def test_every_method_is_measured(found: Comparison) -> None:
    methods = [line.method for line in found.lines]
    assert methods == [
        "names removed",
        "k-anonymity",
        "micro-aggregation",
        "swapping",
        "additive noise",
        "multiplicative noise",
        "rotation",
        "differential privacy",
        "differential privacy",
        "a private model",
        "a private model",
    ]
    assert [line.level for line in found.lines[-4:-2]] == ["epsilon = 0.5", "epsilon = 5"]
    assert (found.people, found.outsiders) == (467, 233)


def test_records_without_names_answer_exactly_and_give_everything_away(found: Comparison) -> None:
    bare = found.lines[0]
    assert bare.query_error == 0
    assert bare.broken_by == ["linking", "guessing the secret", "recovering the value"]
    assert bare.risk == pytest.approx(bare.linking.success)


def test_k_anonymity_links_at_most_one_in_k(found: Comparison) -> None:
    line = found.lines[1]
    assert line.level.startswith("k = ")
    assert int(line.level[4:]) >= 4
    assert line.linking.chance < line.linking.success <= 1 / 4
    assert "linking" in line.broken_by


def test_a_rotation_is_turned_back(found: Comparison) -> None:
    line = found.lines[6]
    assert line.query_error > 0.5
    assert line.linking.success == pytest.approx(found.lines[0].linking.success)


def test_differential_privacy_holds_and_gets_better_with_epsilon(found: Comparison) -> None:
    for line in found.lines[-4:]:
        assert line.broken_by == []
        for result in (line.linking, line.secret, line.value):
            assert result.success <= result.bound
    assert found.lines[-3].query_error < 0.25
    assert found.lines[-3].query_error < found.lines[4].query_error


def test_a_model_answers_no_counts_and_tells_what_holds_for_groups(found: Comparison) -> None:
    for line, row in zip(found.lines[-2:], found.table()[-2:], strict=True):
        assert line.query_error is None
        assert row[-2:] == ["no counts", "no records"]
    assert found.lines[-1].secret.success > found.lines[-1].secret.chance, "at epsilon 5"


def test_it_is_shown_as_table_markdown_and_page(found: Comparison) -> None:
    lines = found.markdown().splitlines()
    assert lines[0] == "| " + " | ".join(COLUMNS) + " |"
    assert len(lines) == 2 + len(found.lines)
    text = found.page()
    assert "People re-identified" in text
    assert "epsilon = 0.5" in text
    assert found.rows[0]["linking"]["bound"] is None
    assert found.rows[0]["secret"].keys() == {"success", "outsiders", "margin", "chance", "bound"}


def test_the_page_shows_what_matters_first_and_on_a_telephone_row_by_row(found: Comparison) -> None:
    assert COLUMNS[2:6] == ("broken by", "re-identified", "secret learnt", "value learnt")
    text = found.page()
    assert '<div class="table stacked">' in text
    assert 'data-label="secret learnt"' in text
    # No word of a column keeps it wider than this many letters, so that eight columns find room in 1,200 pixels.
    longest = [
        max(len(word) for cell in column for word in cell.split())
        for column in zip(COLUMNS, *found.table(), strict=True)
    ]
    assert sum(10 * letters + 13 for letters in longest) < 1_152


def test_the_page_in_the_docs_is_what_the_command_writes() -> None:
    """Noise differs from run to run; methods, levels and verdicts do not."""
    written = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    fresh = compare().markdown().splitlines()
    assert [_steady(line) for line in written[: len(fresh)]] == [_steady(line) for line in fresh]


def _steady(line: str) -> list[str]:
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    return [*cells[:3], re.sub(r"[\d.]+", "0", cells[-1])]


def test_a_box_takes_its_share_of_an_interval() -> None:
    box = Question(np.array([10.0]), np.array([20.0]))
    assert box.count(np.array([[5.0], [10.0], [20.0], [21.0]])) == 2
    low, high = np.array([[0.0], [10.0], [15.0], [12.0]]), np.array([[10.0], [20.0], [25.0], [12.0]])
    assert box.spread(low, high).tolist() == [0, 1, 0.5, 1]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"table": population(300)}, "the columns"),
        ({"table": population(50), "quasi": ["age"], "sensitive": "sex", "value": "income"}, "too few"),
        ({"table": population(300), "quasi": ["sex"], "sensitive": "zip", "value": "income"}, "finite numbers"),
        ({"table": population(300), "quasi": ["age"], "sensitive": "sex", "value": "age"}, "as quasi and as value"),
        ({"table": population(300), "quasi": ["aeg"], "sensitive": "sex", "value": "income"}, "Did you mean"),
        ({"epsilons": []}, "no epsilon"),
        ({"epsilons": [0]}, "epsilon"),
        ({"k": 1}, "k must"),
    ],
)
def test_mistakes_are_named(arguments: dict, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        compare(**arguments)


def test_the_setting_is_the_same_for_the_same_seed() -> None:
    first, second = setting(None, seed=3), setting(None, seed=3)
    assert first.table.equals(second.table)
    assert all((a.low == b.low).all() for a, b in zip(first.questions, second.questions, strict=True))


def test_anonymised_tables_are_attacked_as_they_are() -> None:
    town = population(600).select(["age", "sex", "marital_status"])
    released = sf.anonymise.mondrian(town, ["age", "sex"], k=5, sensitive="marital_status")
    by_row = sf.attacks.skewness(released, ["age", "sex"], "marital_status")
    by_person = sf.attacks.skewness(released, ["age", "sex"], "marital_status", persons=town)
    assert by_row.success > by_row.chance
    assert by_person.success == pytest.approx(by_row.success, abs=0.1)
    assert by_person.attempts == 600
