"""Labs 0, 3 and 4 as a whole: the languages agree, every verdict has words, every number can be printed."""

import hashlib

import pytest

from sfumato.labs.filling import Filling
from sfumato.labs.languages import LANGUAGES
from sfumato.labs.parity import differences
from sfumato.labs.prose import Block, Text, walk
from sfumato.labs.source import load
from tests.labs.content import numbers_of, unused, unworded

LABS = (0, 3, 4)
# Of everything that answers depend on, variant 1 and seed 1: the same bytes on every machine.
COLUMNS = ("outcome", "first", "second", "bid", "Age", "Education", "Education-Num", "Marital Status", "Capital Gain")
HASHES = {0: "498cb81941df195b", 3: "e90dad43b74e3517", 4: "d627b49af800711d"}


@pytest.mark.parametrize("number", LABS)
def test_the_languages_say_the_same(number: int) -> None:
    assert differences(load(number)) == ()


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("number", LABS)
def test_every_verdict_has_words_and_no_words_are_left_over(number: int, lang: str) -> None:
    lab = load(number)
    assert unworded(lab, lang) == set()
    assert unused(lab, lang) == set()
    named = {code for (task, mutant), code in lab.module("mutants").NAMED.items()}
    assert named <= set(lab.words(lang).messages) | {"not_random", "correlated", "validity_limit"}


@pytest.mark.parametrize("number", LABS)
def test_ten_points_of_tasks_five_of_exercises_and_ten_questions(number: int) -> None:
    lab = load(number)
    blocks = [part for part in walk(lab.words("en").parts) if isinstance(part, Block)]
    assert sum(task.points for task in lab.tasks) == 10
    assert sum(float(block.attributes["points"]) for block in blocks if block.kind == "exercise") == 5
    assert sum(block.kind == "question" for block in blocks) == 10
    asked = [block for block in blocks if block.kind in ("exercise", "question")]
    assert all(any(isinstance(part, Block) and part.kind == "answer" for part in block.parts) for block in asked)
    assert any(block.kind == "predict" for block in blocks)


@pytest.mark.parametrize("number", LABS)
def test_every_task_has_enough_wrong_answers_and_another_right_one(number: int) -> None:
    lab, module = load(number), load(number).module("mutants")
    for task in lab.tasks:
        random = "rng)" in task.source
        assert len(module.MUTANTS[task.id]) >= (5 if random else 3), task.id
        assert module.OTHERS[task.id], task.id
    assert set(module.MUTANTS) == {task.id for task in lab.tasks}


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("number", LABS)
def test_seven_variants_fill_every_placeholder(number: int, lang: str) -> None:
    lab = load(number)
    assert sorted(lab.variants) == list(range(1, 8))
    for row in lab.variants:
        filling = Filling(lab, lab.variant(row), lang)
        filled = [filling.prose(part.markdown) for part in walk(lab.words(lang).parts) if isinstance(part, Text)]
        assert not any("{{" in text for text in filled)


@pytest.mark.parametrize("number", LABS)
def test_data_depend_on_the_seed_and_on_nothing_else(number: int) -> None:
    lab, module = load(number), numbers_of(number)
    first, again, other = (module.tables(lab.variant(2, seed), "en") for seed in (5, 5, 6))
    assert all(first[key].equals(again[key]) for key in first)
    assert not all(first[key].equals(other[key]) for key in first)
    assert set(module.files(lab.variant(2))) == set(first)


@pytest.mark.parametrize("number", LABS)
def test_data_are_the_same_on_every_machine(number: int) -> None:
    made = numbers_of(number).tables(load(number).variant(1, 1), "en")
    kept = [
        (key, name, table[name].to_pylist())
        for key, table in sorted(made.items())
        for name in COLUMNS
        if name in table.column_names
    ]
    assert hashlib.sha256(repr(kept).encode()).hexdigest()[:16] == HASHES[number]
