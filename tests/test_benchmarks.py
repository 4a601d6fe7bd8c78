"""`python -m benchmarks`: a topic that lacks something says so in a sentence, and the others run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import __main__ as benchmarks
from benchmarks.measure import Report
from tests.tables import TableMissing


def figures(*, reached: bool = True) -> Report:
    report = Report("figures")
    report.add("seconds", 1.0 if reached else 9.0, "s", at_most=5)
    return report


def topic(name: str) -> Iterator[Report]:
    yield figures(reached=name != "noise")
    if name == "anonymise":
        raise TableMissing("The table is not at hand.")
    if name == "geo":
        raise ModuleNotFoundError("No module named 'peer'", name="peer.parts")
    if name == "local":
        raise ModuleNotFoundError("No module named 'sfumato.lost'", name="sfumato.lost")
    yield figures()


@pytest.fixture(autouse=True)
def _topics(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmarks, "_reports", topic)


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(["attacks"], 0), (["attacks", "--strict"], 0), (["noise"], 0), (["noise", "--strict"], 1)],
)
def test_targets_count_if_asked(arguments: list[str], status: int) -> None:
    assert benchmarks.main(arguments) == status


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("anonymise", "anonymise stops here. The table is not at hand."),
        ("geo", "geo stops here. It needs the package peer, which make bench installs."),
    ],
)
def test_what_is_missing_is_said_and_the_others_run(
    name: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert benchmarks.main([name, "attacks"]) == 1
    shown = capsys.readouterr()
    assert shown.err.strip() == sentence
    assert "3 of 3 tables reached all their targets." in shown.out
    assert f"Not run to the end, because something is missing: {name}." in shown.out


def test_a_fault_of_our_own_is_no_missing_package() -> None:
    with pytest.raises(ModuleNotFoundError):
        benchmarks.main(["local"])


def test_an_unknown_topic_is_named_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert benchmarks.main(["nois"]) == 2
    expected = 'unknown topic nois. Did you mean "noise"? There are noise, accounting,'
    assert capsys.readouterr().err.startswith(expected)


def test_missed_targets_are_listed_at_the_end_and_every_topic_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert benchmarks.main(["noise", "attacks", "--strict"]) == 1
    shown = capsys.readouterr().out
    assert "3 of 4 tables reached all their targets." in shown
    closing = shown.partition("Missed targets")[2]
    assert [word in closing for word in ("noise", "figures", "seconds", "9 s", "≤ 5", "attacks")] == [True] * 5 + [
        False
    ]


def test_nothing_missed_needs_no_closing_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert benchmarks.main(["attacks", "--strict"]) == 0
    assert "Missed" not in capsys.readouterr().out


def test_make_bench_is_strict() -> None:
    rules = Path("Makefile").read_text(encoding="utf-8")
    assert "-m benchmarks --strict\n" in rules
