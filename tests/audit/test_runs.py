"""The audit of Sfumato itself: complete, quiet on the originals, loud on every twin.

`make audit`, a step of `.ci/run`, attacks everything and flags every twin. Here it is one of a kind.
"""

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sfumato as sf
import sfumato.geo as geo
import sfumato.noise as noise
from sfumato.audit import laws, learners, positions, replay, runs, trustless, twins
from sfumato.audit.catalogue import AGGREGATES, MECHANISMS, aggregates
from sfumato.audit.channels import every_channel
from sfumato.audit.likelihoods import ratio
from sfumato.audit.plans import PLANS
from sfumato.audit.replay import ONCE_A_GROUP, PERSON, QUESTIONS, Tape, every_question, replayed
from sfumato.cli.main import run
from sfumato.engines.duckdb.dialect import DUCKDB
from sfumato.kernel.mechanisms.additive import Additive, DiscreteGaussian, DiscreteLaplace
from sfumato.kernel.mechanisms.protocol import CellCounts
from sfumato.kernel.mechanisms.splits import QuestionChoice, scores
from sfumato.learn.files.loading import LEARNERS as LOADED
from sfumato.local.numbers import LAWS
from sfumato.local.protocols import FREQUENCIES, WAYS
from sfumato.plan.counting import countings
from sfumato.plan.expressions import Column, RangeKey
from sfumato.plan.nodes import Aggregate, Choose, Question
from tests.contract.test_mechanisms import NO_MECHANISMS
from tests.entropy import SeededEntropy
from tests.kernel.plans import measure, plan, schema
from tests.marks import few

SUBJECTS = {subject.name: subject for subject in (*MECHANISMS, *aggregates(), *trustless.subjects())}
TWINS = {subject.name: subject for subject in twins.subjects()}
TIGHT = ("laplace", "geometric", "exponential", "permute_and_flip", "randomised_response")
KINDS = (
    *TIGHT,
    "gaussian",
    "key_selection",
    "SUM(x), unit person, pure",
    "COUNT(*), unit up to 2 rows, zCDP",
    "people above a cap, unit person, pure",
    "AVG(x), its sum, unit row, zCDP",
    "HISTOGRAM(x, 2), unit person, zCDP",
    "CDF(x, 40), unit row, pure",
    "discovered keys, unit person, zCDP",
    "discovered keys, by weights",
    "local rr",
    "local laplace",
    "local rappor, one report",
    "geo planar geometric, one step apart",
)
LESS_NOISE = " with 0.9 of the noise"
LEARNERS = {subject.name: subject for subject in (*learners.subjects(), *learners.twins())}
OTHER_MISTAKES = [name for name in TWINS if not name.endswith(LESS_NOISE)]


SLOWEST = ("permute_and_flip", "privtree with half the noise of its shape", "top-k that pays for one pick")


def is_quick(name: str) -> bool:
    return not name.startswith(SLOWEST)


def test_the_command_leaves_nothing_out() -> None:
    """Each subject, each channel, each question; and a twin for each, and the other mistakes."""
    names = [name for name, _ in runs.tasks()]
    assert names[: len(SUBJECTS)] == list(SUBJECTS)
    learnt = [subject.name for subject in learners.subjects()]
    assert names[len(SUBJECTS) :][: len(learnt)] == learnt
    assert names.count("bits and time") == len(list(every_channel()))
    assert names.count("replay") == len(list(every_question()))
    planted = [name for name, _ in runs.twin_tasks()]
    assert planted[: len(TWINS)] == list(TWINS)
    assert {f"{name}{LESS_NOISE}" for name in SUBJECTS} == TWINS.keys() - set(OTHER_MISTAKES)
    mistaught = [subject.name for subject in learners.twins()]
    assert planted[len(TWINS) :][: len(mistaught)] == mistaught
    assert planted[len(TWINS) + len(mistaught) :] == ["bits, time, replay"] * len(list(twins.channels()))
    assert len(OTHER_MISTAKES) >= 14


def test_every_mechanism_and_every_aggregate_is_audited() -> None:
    audited = {name.partition(",")[0] for name in SUBJECTS}
    assert set(noise.__all__) - NO_MECHANISMS - audited == {"above_threshold_stream"}  # the same draws, one at a time
    assert set(Aggregate.__args__) == {type(aggregate) for aggregate in AGGREGATES.values()}
    assert any("SUM(wide)" in question for question in QUESTIONS)


def test_every_question_of_a_person_is_asked_with_fewer_rows_in_a_group_than_in_all() -> None:
    asked: dict[Any, set[str]] = {PERSON: set(), ONCE_A_GROUP: set()}
    for check in every_question():
        question, unit, _ = check.args  # type: ignore[attr-defined]
        asked.setdefault(unit, set()).add(question)
    assert asked[PERSON] == asked[ONCE_A_GROUP] == {*QUESTIONS, *PLANS}
    assert ONCE_A_GROUP.caps.max_rows_per_group < ONCE_A_GROUP.max_rows


def test_every_way_to_report_without_a_server_is_audited() -> None:
    local = {name.removeprefix("local ").partition(",")[0] for name in SUBJECTS if name.startswith("local ")}
    assert local == {*FREQUENCIES, *LAWS, "attributes", "heavy hitters"}
    assert {f"local attributes, {way}" for way in WAYS} <= SUBJECTS.keys()
    geographic = {name.removeprefix("geo ").partition(",")[0] for name in SUBJECTS if name.startswith("geo ")}
    assert geographic == {"planar geometric", "planar on the globe", "metric", "words", "privtree"}
    mechanisms = {door for door in geo.__all__ if door.islower() and callable(getattr(geo, door))}
    no_noise = {"closest", "compare", "device", "distance_m", "draw_comparison", "draw_reports", "draw_tree", "read"}
    assert mechanisms - no_noise - {"remap"} == {"planar", "metric", "words", "privtree"}  # a remap sees reports only


def test_the_law_of_the_globe_is_known_around_the_position_only() -> None:
    with pytest.raises(ValueError, match="around the position"):
        SUBJECTS["geo planar on the globe, 1/ε apart"].law(positions.THERE, Fraction(1))  # type: ignore[misc]


def test_a_single_report_of_rappor_claims_less_than_what_is_kept() -> None:
    subject = SUBJECTS["local rappor, one report"]
    assert subject.epsilon < subject.price / 2
    assert subject.with_less_noise().epsilon == subject.epsilon


@pytest.mark.parametrize("name", few(KINDS, is_quick))
def test_holds(name: str) -> None:
    for finding in runs._law_and_events(SUBJECTS[name]):
        assert not finding.violated, str(finding)
    if name in TIGHT:
        assert finding.measured > 0.92  # typically above 0.95: docs/explanation/audit.md


@pytest.mark.parametrize("check", [*every_channel(), *list(every_question())[::4]])
def test_bits_time_and_replay_hold(check: Any) -> None:
    finding = check()
    assert not finding.violated, str(finding)


def test_noise_around_another_bound_may_take_fewer_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """With this seed it does: once in thirty runs that was taken for noise that depends on the data."""
    tapes: list[Tape] = []

    def seeded(**given: Any) -> Tape:
        tapes.append(Tape(**given, _source=SeededEntropy("6")))
        return tapes[-1]

    monkeypatch.setattr(replay, "Tape", seeded)
    finding = replayed("SELECT SUM(wide), AVG(whole) FROM t WHERE n IS NOT NULL OR g = 'b'", PERSON)
    first, *others = tapes
    assert any(not again.strayed and len(again.recorded) < len(first.recorded) for again in others)
    assert not finding.violated, str(finding)


@pytest.mark.parametrize("name", few([*(f"{name}{LESS_NOISE}" for name in KINDS), *OTHER_MISTAKES], is_quick))
def test_a_twin_is_flagged(name: str) -> None:
    [finding] = runs._worse(TWINS[name])
    assert finding.violated, str(finding)


def test_every_learner_is_attacked() -> None:
    """Each that is fitted by itself: `Components` draws what `Correlation` does."""
    kinds = {type(one.learner) for one in learners.ATTACKED}
    assert kinds | {sf.learn.Components} == set(LOADED)
    assert {one.currency for one in learners.ATTACKED} == {"epsilon", "rho"}
    assert {type(one.scene.schema.unit) for one in learners.ATTACKED} == {sf.Row, sf.Person}


@pytest.mark.parametrize("name", few(LEARNERS, lambda name: name.startswith(("learn.bayes", "learn.tree of"))))
def test_a_model_gives_its_people_away_as_little_as_its_price_says(name: str) -> None:
    """M3: within tanh(ε/2), and beyond it where a learner draws a few times what was paid."""
    subject = LEARNERS[name]
    finding, price = runs.membership(subject), float(subject.price)
    assert finding.claimed == pytest.approx(math.sqrt(price / 2) if subject.in_rho else math.tanh(price / 2))
    assert finding.violated == ("is drawn" in name), str(finding)


# ---- how much likelier


@pytest.mark.parametrize("scale", [Fraction(3), Fraction(1, 2)])
def test_how_much_likelier_noise_makes_a_number(scale: Fraction) -> None:
    """As the law says, of discrete Laplace noise and of Gaussian."""
    laplace = Additive(DiscreteLaplace(scale), 1, 1)
    gaussian = Additive(DiscreteGaussian(scale), 1, 1)
    for seen in range(-3, 5):
        exact = [laws.laplace(float(scale), centre, 9)[seen] for centre in (1, 0)]
        assert ratio(laplace, seen, 1, 0) == pytest.approx(math.log(exact[0] / exact[1]))
        exact = [laws.gaussian(float(scale), centre, 9)[seen] for centre in (1, 0)]
        assert ratio(gaussian, seen, 1, 0) == pytest.approx(math.log(exact[0] / exact[1]))


@pytest.mark.parametrize(("currency", "law"), [("epsilon", laws.permute_and_flip), ("rho", laws.exponential)])
def test_how_much_likelier_rows_make_a_choice(currency: Any, law: Any) -> None:
    """Three questions to a table of two cells by two classes; one row more."""
    cells, classes = RangeKey(Column("x"), 0, 1), RangeKey(Column("y"), 0, 1)
    asked = Choose((cells,), classes, (Question(0, (0, 1)), Question(0, (0, 0)), Question(0, (1, 0))))
    choice = QuestionChoice.for_share(Fraction(1), currency, 1, 1, asked)
    tables = [(CellCounts(np.array([0, 3]), np.array([4, many])),) for many in (3, 2)]
    found = [law(float(choice.law.rate), scores(asked, [one])[0].tolist()) for one in tables]
    for seen in range(3):
        expected = math.log(found[0][seen] / found[1][seen])
        assert ratio(choice, seen, *tables) == pytest.approx(expected)


@pytest.mark.parametrize("check", list(twins.channels()))
def test_every_broken_channel_is_flagged(check: Any) -> None:
    assert check().violated


def test_a_twin_that_is_not_broken_is_noticed() -> None:
    with pytest.raises(ValueError, match="to break"):
        twins._broken("no such text", "")(countings(plan(measure()))[0], schema(), DUCKDB)


def test_the_command_prints_and_exits_by_what_it_found(capsys: pytest.CaptureFixture[str]) -> None:
    def shell(*arguments: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as left:
            run(["audit", *arguments])
        return int(left.value.code or 0), capsys.readouterr().out

    code, out = shell("--only", "randomised_response", "--format", "json")
    found = json.loads(out)
    assert (code, found["violations"]) == (0, 0)
    assert {one["check"] for one in found["findings"]} == {"law", "events"}
    code, out = shell("--twins", "--only", "randomised_response")
    assert code == 0
    assert "2 of 2 planted violations flagged" in out
    assert shell("--only", "nothing like this")[0] == 2


def test_a_violation_or_a_missed_twin_makes_the_command_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    right, wrong = SUBJECTS["randomised_response"], SUBJECTS["randomised_response"].with_less_noise()
    monkeypatch.setattr(runs, "MECHANISMS", (wrong,))
    monkeypatch.setattr(runs, "aggregates", list)
    with pytest.raises(SystemExit) as left:
        run(["audit", "--only", "randomised_response"])
    assert left.value.code == 1
    monkeypatch.setattr(twins, "subjects", lambda: [right])
    with pytest.raises(SystemExit) as left:
        run(["audit", "--twins", "--only", "randomised_response"])
    assert left.value.code == 1
