"""Cards, schedules and pictures: what was protected, how, and how sure it is; names in them cannot run."""

import re
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.errors import UsageError
from sfumato.learn.shown.notes import lost, notes_on
from sfumato.plots.trees import Drawn, tree
from tests.learn.people import (
    COLUMNS,
    LEARNERS,
    NUMBERS,
    OF_NUMBERS,
    AdditiveOfNumber,
    TreeOfNumber,
    learner,
    opened,
    people,
)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    with opened(tmp_path_factory.mktemp("cards"), people(2417), epsilon=100) as session:
        found = {kind: learner(kind, 5).fit(session) for kind in (*LEARNERS, *OF_NUMBERS)}
    names = {AdditiveOfNumber: "number", TreeOfNumber: "tree of a number"}
    return {names.get(kind, kind.learner): model for kind, model in found.items()}


ALL = (
    "bayes", "additive", "tree", "forest", "number", "tree of a number", "linear", "correlation", "components",
    "clusters",
)  # fmt: skip


TOLD = {
    "number": ("mood of people", "R² on rows of your own"),
    "tree of a number": ("mood of people", "R² on rows of your own"),
    "linear": ("age of people", "No R² on the"),
    "correlation": ("Correlations: people", "comes on top"),
    "components": ("components: people", "comes on top"),
    "clusters": ("Clusters: people", "How far the rows are"),
}


@pytest.mark.parametrize("name", ALL)
def test_a_card_says_what_people_should_know(fitted: dict[str, Any], name: str, tmp_path: Path) -> None:
    model = fitted[name]
    text = str(model.card_)
    title, score = TOLD.get(name, ("y of people", "No accuracy on the"))
    for told in (
        title, "One row, added or removed, at epsilon 5", "entry ", "Schedule:", score,
    ):  # fmt: skip
        assert told in text
    assert model.card_.to_dict()["learner"] == model.learner
    page = model.card_.to_html(tmp_path / "card.html")
    assert (tmp_path / "card.html").read_text(encoding="utf-8") == page
    assert page.count("<figure>") >= 1
    assert "What was protected" in page
    assert model.card_._repr_html_().startswith('<div class="sfumato">')
    assert model.plot().data
    assert not re.search(r"(?<!\d)2,?417(?!\d)", text), "the number of rows is nowhere"


def test_figures_of_parts(fitted: dict[str, Any]) -> None:
    assert fitted["additive"].card_.figure("city").layout.title.text == "city"
    assert fitted["forest"].card_.figure(2).layout.title.text == "y: tree 2"
    with pytest.raises(UsageError, match="no street to draw"):
        fitted["additive"].card_.figure("street")
    with pytest.raises(UsageError, match="no 7 to draw"):
        fitted["forest"].card_.figure(7)


def test_figures_of_numbers(fitted: dict[str, Any]) -> None:
    dots = fitted["linear"].plot().data[0]
    assert dots.y[0] == "mood, -1 to 1"
    assert len(dots.x) == 3 + 4 + 1
    heat = fitted["correlation"].plot().data[0]
    assert list(heat.x) == list(heat.y) == NUMBERS
    assert heat.z[0][0] == pytest.approx(1)
    assert len(fitted["components"].plot().data[0].y) == 2
    with pytest.raises(UsageError, match="no age to draw"):
        fitted["linear"].card_.figure("age")


def test_linear_in_words(fitted: dict[str, Any]) -> None:
    card = str(fitted["linear"].card_)
    assert "for each day of since" in card
    assert "for city = Vinci" in card
    assert "listed values are compared with city = Lucca, member = false" in card
    assert "city (5 values)" in card
    assert "mood (-1 to 1)" in card


def test_a_tree_in_words(fitted: dict[str, Any]) -> None:
    lines = fitted["tree"].card_.to_dict()["learnt"]
    assert lines[0].endswith("?")
    assert sum("rows, ±" in line for line in lines) == sum(
        not node.children for node in fitted["tree"].model_.fitted.trees[0]
    )


def test_of_several_classes_a_card_says_which_it_shows(tmp_path: Path) -> None:
    with opened(tmp_path, people(500)) as session:
        bayes = sf.learn.NaiveBayes("city", spend=2, columns=["age", "kids"]).fit(session)
        additive = sf.learn.Additive("city", spend=2, columns=["age", "kids"]).fit(session)
        tree = sf.learn.Tree("city", spend=2, columns=["age", "kids"], depth=2).fit(session)
        found = session.evaluate(tree, spend=1)
    for model in (bayes, additive):
        assert model.card_.to_dict()["learnt"][0] == "log-odds of Urbino against Vinci; other classes are in the file"
    assert bayes.card_.figure("age").layout.yaxis.title.text == "log-odds of Urbino against Vinci"
    assert all(page.count("<figure>") for page in (bayes.card_.to_html(), tree.card_.to_html()))
    assert (len(found.confusion), found.auc, found.roc) == (5, None, ())
    assert "AUC" not in str(found)


def test_names_cannot_run(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    columns = {evil: COLUMNS["city"], "y": sf.Category(["no", "yes"])}
    table = people(50).select(["city", "y"]).rename_columns([evil, "y"])
    with opened(tmp_path, table, columns=columns) as session:
        for kind in (sf.learn.Additive, sf.learn.Tree):
            model = kind("y", spend=1).fit(session)
            assert "<script>alert" not in model.card_.to_html()
            assert "<script>alert" not in model.card_._repr_html_()
            assert "<script>alert" not in model.explain(session)._repr_html_()
            assert f'"{evil}"' in model.to_sql()


def test_a_schedule_is_shown_before_anything_is_paid(tmp_path: Path) -> None:
    with opened(tmp_path, delta=1e-6, expected_rows=30_000) as session:
        for kind in (*LEARNERS, *OF_NUMBERS):
            schedule = learner(kind).explain(session)
            text = str(schedule)
            assert "Costs:    epsilon 1, delta 5e-07, one charge" in text
            assert sum(stage.share for stage in schedule.stages) == pytest.approx(1, abs=1e-5)
            assert schedule.to_dict()["purpose"].startswith('{"caps"') or '"learner"' in schedule.purpose
        assert "chosen privately" in str(learner(sf.learn.Tree).explain(session))
        assert session.history() == []
        assert session.budget.spent.epsilon == 0
        assert sf.learn.Tree("y", spend=1).explain(session).settings["depth"] == 6, "by what the owner says of rows"


def test_what_is_switched_off_is_said_in_the_schedule_and_refused(tmp_path: Path) -> None:
    with opened(tmp_path, allow=["additive"]) as session:
        schedule = learner(sf.learn.Tree).explain(session)
        assert "splits" in schedule.refused
        assert "Refused:" in str(schedule)
        with pytest.raises(sf.errors.Refused, match="splits"):
            learner(sf.learn.Tree).fit(session)
        assert session.history() == []
        learner(sf.learn.Additive).fit(session)


def test_notes_say_where_noise_rules(fitted: dict[str, Any], tmp_path: Path) -> None:
    assert lost(5, 2)
    assert not lost(6, 2)
    with opened(tmp_path, people(300)) as session:
        small = learner(sf.learn.Tree, 0.05, depth=4).fit(session)
        assert any("of 16 leaves" in note or "Noise" in note for note in small.notes_)
    assert notes_on(fitted["tree"].model_.fitted) == ()


def test_a_lone_root_and_a_crowded_tree_are_drawn() -> None:
    alone = tree([Drawn("yes", "yes", False, 1.0, ())], title="t")
    assert list(alone.data[1].x) == [0]
    nodes = [
        Drawn(f"n{place}", "", place % 2 == 0, 0.5, (2 * place + 1, 2 * place + 2) if place < 63 else ())
        for place in range(127)
    ]
    assert tree(nodes, title="t").data[1].mode == "markers", "too many to label"
