"""The test of the tests: a sample of it here, and the committed tables of the long run, which must not be stale."""

from dataclasses import replace
from pathlib import Path

import pytest

from sfumato.labs.fingerprint import hash_of
from sfumato.labs.selftest import Row, judged, selftest, subjects
from sfumato.labs.selftest_table import long_run, read_table, write_table
from sfumato.labs.source import load, numbers_of_labs
from tests.labs.small import small

TABLES = Path(__file__).parent / "selftest"


def test_the_small_lab_is_judged_as_it_must_be():
    """Variant 4, one seed: right answers pass, wrong ones fail with the code that names them."""
    lab = small()
    for subject, verdict in judged(lab, 4, 1, subjects(lab)):
        assert verdict.passed is (subject.kind != "mutant"), (subject, verdict)
        if subject.code:
            assert verdict.code == subject.code, subject


def test_a_row_is_good_only_as_claimed():
    row = Row("t1", "mutant", "m", runs=1400, passed=14, named=1386, code="c")
    assert row.good
    assert not replace(row, passed=15).good
    assert not replace(row, named=1300).good
    assert replace(row, named=0, code="").good
    assert replace(row, kind="reference", passed=1400).good
    assert not replace(row, kind="reference", passed=1399).good


def test_a_lenient_check_is_found_out(monkeypatch):
    lab = small()
    monkeypatch.setattr(
        lab.module("checks"), "t1", lambda answers, v: __import__("sfumato.labs.judge").labs.judge.PASSED
    )
    rows = selftest(lab, 1, tasks=["t1"])
    assert {row.name for row in rows if not row.good} == set(lab.module("mutants").MUTANTS["t1"])


def test_tables_are_written_and_read(tmp_path):
    rows = [Row("t10", "mutant", "b", 7, 0, 0, ""), Row("t2", "reference", "reference", 7, 7, 0, "")]
    path = write_table(small(), rows, tmp_path, seeds=1, mutant_seeds=1)
    about, read = read_table(path)
    assert read == rows[::-1]
    assert about["checks"] == hash_of(small())


def test_a_long_run_goes_on_where_it_was_broken_off(tmp_path, monkeypatch):
    lab = small()
    few = [one for one in subjects(lab) if one.task == "t1"][:3]
    monkeypatch.setattr("sfumato.labs.selftest.subjects", lambda lab: few)
    assert {one.kind for one in few} > {"reference"}
    whole = selftest(lab, 3, mutant_seeds=2)
    long_run(lab, tmp_path, seeds=1, mutant_seeds=2, workers=1, report=lambda share: None)
    shares = []
    rows = long_run(lab, tmp_path, seeds=3, mutant_seeds=2, workers=1, report=shares.append)
    key = lambda row: (row.task, row.kind, row.name)  # noqa: E731
    assert sorted(rows, key=key) == sorted(whole, key=key)
    assert sorted(read_table(tmp_path / f"{lab.slug}.json")[1], key=key) == sorted(whole, key=key)
    assert shares[0] > 1 / 3
    assert shares[-1] == pytest.approx(1)
    again = []
    long_run(lab, tmp_path, seeds=3, mutant_seeds=2, workers=1, report=again.append)
    assert again == []


def test_the_hash_follows_the_checks(tmp_path):
    import shutil

    from sfumato.labs.source import read

    folder = tmp_path / "lab91_noise"
    shutil.copytree(small().folder, folder, ignore=shutil.ignore_patterns("__pycache__"))
    before = hash_of(read(folder))
    assert before == hash_of(small())
    (folder / "en.md").write_text("words")
    assert hash_of(small()) == before
    with (folder / "checks.py").open("a") as handle:
        handle.write("\n# changed\n")
    assert hash_of(read(folder)) != before


@pytest.mark.labs
@pytest.mark.parametrize("path", sorted(TABLES.glob("*.json")), ids=lambda path: path.stem)
def test_the_table_of_a_long_run_is_good_and_not_stale(path):
    """Of each lab that has one: `sfumato labs selftest --full` takes hours."""
    [lab] = [lab for lab in map(load, numbers_of_labs()) if lab.slug == path.stem]
    about, rows = read_table(path)
    assert about["checks"] == hash_of(lab), f"the checks have changed: sfumato labs selftest --full --lab {lab.number}"
    assert [row for row in rows if not row.good] == []
    assert about["seeds"] >= 200
    assert about["mutant_seeds"] >= 43  # 301 runs: no pass in them is more than 1 % with a chance below 5 %
    assert about["variants"] == list(range(1, 8))
    assert {(row.task, row.kind, row.name) for row in rows} == {(one.task, one.kind, one.name) for one in subjects(lab)}


@pytest.mark.labs
@pytest.mark.parametrize("variant", range(1, 8))
@pytest.mark.parametrize("number", numbers_of_labs())
def test_a_sample_of_every_check(number, variant):
    """Each variant with a seed of its own; the seeds are fixed, so what passes once passes always."""
    lab = load(number)
    wrong = [
        (subject.task, subject.kind, subject.name, verdict.code)
        for subject, verdict in judged(lab, variant, variant, subjects(lab))
        if verdict.passed is (subject.kind == "mutant")
    ]
    assert wrong == []


@pytest.mark.labs
@pytest.mark.parametrize("variant", range(1, 8))
@pytest.mark.parametrize("number", numbers_of_labs())
def test_solutions_pass_on_four_more_seeds(number, variant):
    """With wrong answers too these are twenty minutes: `sfumato labs selftest`, which does five seeds of everything."""
    lab = load(number)
    references = [one for one in subjects(lab) if one.kind == "reference"]
    wrong = [
        (seed, subject.task, verdict.code)
        for seed in range(variant + 7, variant + 35, 7)
        for subject, verdict in judged(lab, variant, seed, references)
        if not verdict.passed
    ]
    assert wrong == []
