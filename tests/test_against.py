"""`python -m benchmarks --against`: a slowed twin is flagged, chance is not."""

import json
import os
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from benchmarks import __main__ as benchmarks
from benchmarks import against, revisions
from benchmarks.against import BETTER, FAILS, LATE, NEW, SAME, WORSE, Line, judged
from benchmarks.figures import FIGURES, Figure
from benchmarks.revisions import RevisionUnknown, unpacked

WORK = """
def work():
    return sum(range({amount}))
"""
ADDED = """
def added():
    return 1
"""


def tree(folder: Path, name: str, text: str) -> Path:
    place = folder / name / "src" / "sfumato"
    place.mkdir(parents=True)
    (place / "__init__.py").write_text(text)
    return place.parent


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(against, "TURN", 0.01)


def verdicts(before: Path, now: Path) -> dict[str, Line]:
    return {line.figure: line for line in against.measured(before, now, ["fake"], module="tests.fake_figures")}


@pytest.mark.exhaustive
@pytest.mark.usefixtures("_quick")
def test_a_slowed_twin_is_worse_and_a_new_figure_was_not_there(tmp_path: Path) -> None:
    before = tree(tmp_path, "before", WORK.format(amount=20_000))
    now = tree(tmp_path, "now", WORK.format(amount=400_000) + ADDED)
    found = verdicts(before, now)
    assert found["work"].verdict == WORSE
    assert not found["work"].passed
    assert found["work"].ratio is not None
    assert found["work"].ratio > 3
    assert found["added"].verdict == NEW
    assert found["added"].passed
    assert "added" in found["added"].reason
    back = verdicts(now, before)
    assert back["work"].verdict == BETTER
    assert (back["added"].verdict, back["added"].passed) == (FAILS, False)


@pytest.mark.usefixtures("_quick")
def test_without_time_nothing_is_measured_and_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(against, "MOST_SECONDS", -1)
    same = tree(tmp_path, "same", WORK.format(amount=10) + ADDED)
    assert {line.verdict for line in verdicts(same, same).values()} == {LATE}


def test_a_tree_that_cannot_start_fails(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert {line.verdict for line in verdicts(empty, empty).values()} == {FAILS}
    assert "the package is not the one in" in capfd.readouterr().err


def rounds(random: Random, ratio: float, noise: float) -> list[tuple[float, float, float]]:
    """Eleven rounds; one is disturbed by a neighbour."""
    found = [(1.0, ratio * random.gauss(1, noise), ratio * random.gauss(1, noise)) for _ in range(against.ROUNDS)]
    place = random.randrange(len(found))
    found[place] = (1.0, ratio * 3, ratio)
    return found


@pytest.mark.parametrize("noise", [0.003, 0.02, 0.1])
def test_chance_is_not_worse_and_a_third_more_is(noise: float) -> None:
    """Seeded: of 300 figures without a difference none is flagged; a third more is flagged unless it drowns."""
    random = Random(7)
    same = [judged("t", "f", rounds(random, 1.0, noise)).verdict for _ in range(300)]
    assert set(same) == {SAME}
    slower = [judged("t", "f", rounds(random, 4 / 3, noise)).verdict for _ in range(300)]
    assert slower.count(WORSE) > (299 if noise < 0.1 else 150)


def test_both_conditions_must_hold() -> None:
    quiet, loud = [(1.0, 1.02, 1.02)] * 11, [(1.0, 1.2, 1.5)] * 11
    assert judged("t", "f", quiet).verdict == SAME  # beyond the spread, but tolerated
    assert judged("t", "f", loud).verdict == SAME  # a fifth slower, but this tree is as far from itself
    assert judged("t", "f", [(1.0, 1.2, 1.21)] * 11).verdict == WORSE
    assert judged("t", "f", [(1.2, 1.0, 1.01)] * 11).verdict == BETTER


LINES = [Line("noise", "slow", WORSE, 0.001, 0.002, 2.0, 1.01), Line("noise", "new", NEW, now=0.1, reason="Why [so]")]


def test_the_table_names_what_is_worse(capsys: pytest.CaptureFixture[str]) -> None:
    against.show(LINES, "0123456789abcdef", as_json=False)
    shown = capsys.readouterr().out
    for part in ("0123456789ab", "1 ms", "2 ms", "2.000", "1.010", WORSE, "not there before (Why [so])"):
        assert part in shown
    assert shown.strip().endswith("Not as good as before: noise: slow.")
    against.show(LINES[1:], "0" * 40, as_json=False)
    assert "Nothing is worse." in capsys.readouterr().out


@pytest.mark.parametrize(("kept", "status"), [(LINES, 1), (LINES[1:], 0)])
def test_json_and_the_exit_status(
    kept: list[Line], status: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(against, "unpacked", lambda revision, folder: ("c0ffee", folder))
    monkeypatch.setattr(against, "measured", lambda *_, **__: iter(kept))
    assert benchmarks.main(["--against", "old", "noise", "--format", "json"]) == status
    shown = json.loads(capsys.readouterr().out)
    assert shown["against"] == "c0ffee"
    assert [figure["verdict"] for figure in shown["figures"]] == [line.verdict for line in kept]


@pytest.mark.parametrize("topic", ["timing", "large", "nois"])
def test_topics_without_rounds_are_refused(topic: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert benchmarks.main(["--against", "HEAD", topic]) == 2
    assert f"unknown topic {topic}." in capsys.readouterr().err


def test_every_topic_that_can_be_compared_has_figures() -> None:
    assert list(FIGURES) == [name for name in benchmarks.TOPICS if name not in benchmarks.ALONE]
    names = [figure.name for figures in FIGURES.values() for figure in figures]
    assert len(names) == len(set(names))


@pytest.mark.slow
@pytest.mark.parametrize("figure", FIGURES["learn"], ids=lambda figure: figure.name)
def test_figures_of_learners_draw_anew_each_time(figure: Figure, tmp_path: Path) -> None:
    work = figure.prepare(tmp_path)
    (ledger,) = tmp_path.glob("*.ledger")
    entries = []
    for _ in range(3):
        work()
        with closing(sqlite3.connect(ledger)) as book:
            entries += book.execute("SELECT COUNT(*) FROM entry").fetchone()
    assert entries[0] < entries[1] < entries[2]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "repository"
    tree(tmp_path, "repository", WORK.format(amount=1))
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    for who in ("AUTHOR", "COMMITTER"):
        settings |= {f"GIT_{who}_NAME": "a", f"GIT_{who}_EMAIL": "a@example.org"}
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "one"], ["branch", "feature"]):
        subprocess.run(["git", *words], cwd=place, check=True, env=os.environ | settings)
    monkeypatch.setattr(revisions, "ROOT", place)
    return place


def test_a_revision_is_unpacked_beside_the_tree(repository: Path, tmp_path: Path) -> None:
    commit, source = unpacked("feature", tmp_path / "out")
    assert len(commit) == 40
    assert (source / "sfumato" / "__init__.py").read_text() == WORK.format(amount=1)
    assert sorted(path.name for path in repository.iterdir()) == [".git", "src"]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("featur", 'unknown revision featur. Did you mean "feature"? Name a commit'),
        ("--all", "unknown revision --all. Name a commit"),
        ("", "unknown revision . Name a commit"),
    ],
)
@pytest.mark.usefixtures("repository")
def test_an_unknown_revision_is_named_with_the_nearest(
    name: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(RevisionUnknown) as caught:
        unpacked(name, tmp_path)
    assert str(caught.value).startswith(sentence)
    assert benchmarks.main([f"--against={name}"]) == 2
    assert capsys.readouterr().err.startswith(sentence)


def test_outside_of_a_clone_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revisions, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(RevisionUnknown, match="no clone"):
        unpacked("HEAD", tmp_path)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(RevisionUnknown, match="needs git"):
        unpacked("HEAD", tmp_path)
