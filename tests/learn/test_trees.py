"""Trees: what may be asked, which node a row is in, what is taken back afterwards, how deep by declarations alone."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.door import written
from sfumato.engines.arrange import look
from sfumato.errors import Refused, UsageError
from sfumato.kernel.certify import certify
from sfumato.kernel.cost import Cost
from sfumato.learn.evaluation import tables_of
from sfumato.learn.frames import codes_of
from sfumato.learn.model import SHARES, Branches, Node, depth
from sfumato.learn.task import task_of
from sfumato.learn.trees import descending
from sfumato.learn.trees.forest import _Roots, _seen
from sfumato.learn.trees.growing import Growth, depth_for, fits, fullest, leaf_plan, root, sorted_columns, templates
from sfumato.learn.trees.questions import Asked, likeliest_last, questions
from sfumato.learn.trees.tree import Pruning, grown_tree, growth_for, possible
from sfumato.plan.work import work_of
from sfumato.simulate import Simulator
from tests.learn.people import learner, opened, people

NOTHING = Pruning(0, 0.0)

PRICE = Cost("epsilon", Fraction(1))


@pytest.fixture
def session(tmp_path: Path) -> Any:
    with opened(tmp_path, people(500)) as opening:
        yield opening


def task_in(session: Any, columns: list[str]) -> Any:
    return task_of(session.schema, "epsilon", target="y", columns=columns)


def test_what_may_be_asked(session: Any) -> None:
    task = task_in(session, ["kids", "city", "member"])
    asked = questions(task, ())
    assert [one.right for one in asked if one.column == 0] == [tuple(range(cut, 7)) for cut in range(1, 7)]
    assert [one.right for one in asked if one.column == 1] == [(cell,) for cell in range(6)]
    assert [one.right for one in asked if one.column == 2] == [(0,), (2,)], "of two values one says it all"
    sets = [one.right for one in questions(task, {1}) if one.column == 1]
    assert (3, 4, 5) in sets
    assert len(sets) == len(set(sets)) == 4 + 6, "the likeliest alone is that value itself"
    orders = {1: (3, 1, 0, 2, 5, 4)}
    assert Asked(1, (3, 4, 5)).unranked(orders) == Asked(1, (2, 4, 5))
    assert Asked(1, (2, 4, 5)).ranked(orders) == Asked(1, (3, 4, 5))
    assert Asked(0, (3, 4)).ranked(orders) == Asked(0, (3, 4))
    assert asked[0].children(7) == (0, 1, 1, 1, 1, 1, 1)


def test_the_likeliest_come_last_as_far_as_noise_lets_it_be_known() -> None:
    table = np.array([[100, 100], [300, 10], [10, 90], [-5, 2]])
    assert likeliest_last(table, 1.0) == (1, 0, 3, 2)
    assert likeliest_last(table, 10.0) == (1, 3, 0, 2), "two rows say little"
    assert likeliest_last(np.zeros((3, 2), dtype=np.int64), 1.0) == (0, 1, 2)


@pytest.mark.parametrize("trees", [1, 3])
@pytest.mark.parametrize("first", [False, True])
def test_the_engine_has_every_row_in_the_node_that_a_model_has_it_in(
    session: Any, trees: int, first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Leaf counts without noise against a walk through the same questions, row by row."""
    monkeypatch.setattr(descending, "look_first", lambda *_: first)
    orders = {1: (3, 1, 0, 2, 5, 4)}
    task = task_in(session, ["age", "city", "grade", "wealth"]).ranked(orders)
    asked = questions(task, orders)
    seen = [[True, False, True, True], [True] * 4, [False, True, True, True]][:trees] if trees > 1 else []
    level, levels = root(task, trees, 77, seen), []
    for deep in range(4):
        chosen = tuple(asked[(13 * node + 29 * deep) % len(asked)] for node in range(level.nodes))
        levels.append([one.unranked(orders) for one in chosen])
        level = level.below(chosen)
    certified = certify(leaf_plan(level, Fraction(1)), session.schema, "epsilon")
    copies = []
    names = {}
    for kept in _kept(certified.plan.table):
        copy = session._engine.kept(kept.source, session.schema, session._engine.version(), dict(names))
        names[kept] = copy.__enter__()
        copies.append(copy)
    found = look(session._engine, certified.countings, written(certified, session._engine.dialect, names))
    counts = np.zeros(level.nodes * 2, dtype=np.int64)
    counts[found.entries[0][0].places] = found.entries[0][0].counts
    table = people(500)
    codes = codes_of(table, [one.feature for one in task.columns])
    classes = np.array([{"no": 0, "yes": 1}.get(value, -1) for value in table.column("y").to_pylist()])
    if trees == 1:
        node = np.zeros(500, dtype=np.int64)
        expected = _walk(levels, codes, node, classes, level.nodes)
        assert counts.reshape(-1, 2).tolist() == expected.tolist()
    assert counts.sum() == (classes >= 0).sum()
    for copy in reversed(copies):
        copy.__exit__(None, None, None)


def _kept(source: Any) -> list[Any]:
    """Innermost first."""
    from sfumato.plan.sources import Kept

    inner = [] if isinstance(source, str) else _kept(source.source)
    return [*inner, source] if isinstance(source, Kept) else inner


def _walk(levels: Any, codes: Any, node: Any, classes: Any, nodes: int) -> Any:
    for chosen in levels:
        sides = [codes[row, chosen[place].column] in chosen[place].right for row, place in enumerate(node)]
        node = node + len(chosen) * np.array(sides)
    counts = np.zeros((nodes, 2), dtype=np.int64)
    for place, value in zip(node, classes, strict=True):
        if value >= 0:
            counts[place, value] += 1
    return counts


# ---- what is made of noisy leaves

ASKED = (Asked(0, (2, 3)), Asked(0, (1, 2, 3)), Asked(1, (0,)))
CELLS = (frozenset(range(4)), frozenset(range(3)))


def test_counts_add_up_and_shares_shrink_towards_the_node_above() -> None:
    leaves = np.array([[90, 10], [20, 80], [60, 40], [1, 0]])  # of two nodes to the left, then to the right
    nodes = grown_tree([ASKED[:1], ASKED[1:]], leaves, 2.0, NOTHING, CELLS)
    assert [node.counts for node in nodes] == [(171, 130), (150, 50), (90, 10), (60, 40), (21, 80), (20, 80), (1, 0)]
    assert [node.noise for node in nodes] == [4, 3, 2, 2, 3, 2, 2]
    assert all(sum(node.shares) == SHARES for node in nodes)
    top, lone = nodes[0].shares[1] / SHARES, nodes[6].shares[1] / SHARES
    assert top == pytest.approx((130 + 8 * 0.5) / (301 + 8), abs=1e-4)
    above = nodes[4].shares[1] / SHARES
    assert lone == pytest.approx(4 * above / 5, abs=1e-4), "one row says little against the node above"
    assert depth(nodes) == 2


def test_negative_counts_count_as_none() -> None:
    (only, *rest) = grown_tree([ASKED[:1]], np.array([[-9, -7], [-3, -8]]), 2.0, NOTHING, CELLS)
    assert rest == [], "both sides say the same: the question is taken back"
    assert only.shares == (32768, 32768)


def test_a_question_that_was_answered_above_is_none() -> None:
    """Who has more than 2 has more than 1: the other side is empty, whatever noise counts there."""
    levels = [(Asked(0, (2, 3)),), (Asked(1, (0,)), Asked(0, (1, 2, 3)))]
    leaves = np.array([[5, 1], [70, 70], [1, 5], [3, 9]])
    nodes = grown_tree(levels, leaves, 1.0, NOTHING, CELLS)
    assert [node.counts for node in nodes] == [(9, 15), (6, 6), (5, 1), (1, 5), (3, 9)]
    hidden = grown_tree(levels, leaves, 1.0, NOTHING, (frozenset((0,)), CELLS[1]))
    assert [node.counts for node in hidden] == [(6, 6), (5, 1), (1, 5)], "a column that is not seen is all in cell 0"


def test_pruning_is_by_noisy_numbers_and_costs_nothing(session: Any) -> None:
    leaves = np.array([[90, 10], [20, 80], [60, 40], [1, 0]])  # of two nodes to the left, then to the right
    few = grown_tree([ASKED[:1], ASKED[1:]], leaves, 2.0, Pruning(5, 0.0), CELLS)
    assert [node.counts for node in few] == [(171, 130), (150, 50), (90, 10), (60, 40), (21, 80)]
    gain = grown_tree([ASKED[:1], ASKED[1:]], leaves, 2.0, Pruning(0, 0.1), CELLS)
    assert [node.counts for node in gain] == [(171, 130), (150, 50), (21, 80)]
    assert len(grown_tree([ASKED[:1], ASKED[1:]], leaves, 2.0, Pruning(10**6, 0.0), CELLS)) == 1
    whole = learner(sf.learn.Tree, 5).fit(session)
    pruned = learner(sf.learn.Tree, 5, min_samples=10**6).fit(session)
    assert len(whole.model_.fitted.trees[0]) > 1
    assert len(pruned.model_.fitted.trees[0]) == 1
    with pytest.raises(UsageError, match="min_samples"):
        learner(sf.learn.Tree, min_samples=-1).fit(session)


def test_how_deep_follows_from_declarations_and_the_spend() -> None:
    assert [depth_for(Fraction(1), rows) for rows in (None, 100, 600, 32_561, 10**7)] == [4, 1, 2, 6, 8]
    assert depth_for(Fraction(1, 10), 32_561) == 3
    growth = Growth(3, Fraction(1, 4), sorting=True)
    assert sum(growth.levels) + growth.grown * growth.leaves + Fraction(1, 10) == 1
    assert growth.levels[1] / growth.levels[0] == Fraction(7, 5)


def test_growth_of_a_task(session: Any) -> None:
    task = task_of(session.schema, "epsilon", target="y", expected_rows=30_000)
    assert growth_for(Fraction(1), task, PRICE, None, root) == Growth(6, Fraction(1, 4), sorting=True)
    numbers = task_of(session.schema, "epsilon", target="y", columns=["age"], expected_rows=30_000)
    assert not growth_for(Fraction(1), numbers, PRICE, None, root).sorting, "nothing is there to sort"
    few = task_of(session.schema, "epsilon", target="y", expected_rows=900)
    assert growth_for(Fraction(1), few, PRICE, 5, root) == Growth(5, Fraction(7, 20), sorting=False)
    assert possible(numbers) == (frozenset(range(33)),)
    for wrong in (0, 9, 2.5):
        with pytest.raises(UsageError, match="depth"):
            growth_for(Fraction(1), task, PRICE, wrong, root)  # type: ignore[arg-type]


def test_a_tree_finds_what_matters(tmp_path: Path) -> None:
    """With a large spend: nearly what a tree without noise finds."""
    with opened(tmp_path, people(4000), epsilon=100) as session:
        tree = sf.learn.Tree("y", spend=50, depth=3).fit(session)
    rows = people(4000, seed=21, holes=False)
    right = float(np.mean(tree.predict(rows) == np.array(rows.column("y").to_pylist())))
    assert right > 0.68
    asked = {tree.model_.features[node.column].name for node in tree.model_.fitted.trees[0] if node.children}
    assert "age" in asked


def test_a_tree_is_no_deeper_than_plans_may_be_large(tmp_path: Path) -> None:
    """Of many columns with many cells: by declarations alone, and refused before it is paid if somebody insists."""
    columns = {f"x{place}": sf.Float(0, 1) for place in range(40)} | {"y": sf.Category(["no", "yes"])}
    table = pa.table({f"x{place}": [0.5] * 10 for place in range(40)} | {"y": ["no", "yes"] * 5})
    with opened(tmp_path, table, columns=columns, expected_rows=10**7) as session:
        depth = sf.learn.Tree("y", spend=1).explain(session).settings["depth"]
        assert 1 <= depth < 8
        with pytest.raises(Refused, match="with depth=8 fitting or evaluating would make too large a plan") as told:
            sf.learn.Tree("y", spend=1, depth=8).fit(session)
        assert f"Use depth={depth} or less, or name fewer columns" in told.value.hint
        assert session.history() == []
        assert sf.learn.Tree("y", spend=1).fit(session).n_features_in_ == 40


# ---- forests


def test_trees_of_a_forest_see_different_columns_by_public_coins() -> None:
    seen = _seen(10, 5, "00ff")
    assert [sum(tree) for tree in seen] == [6] * 5
    assert [sum(tree[column] for tree in seen) for column in range(10)] == [3] * 10, "each column by as many trees"
    assert len(set(seen)) > 1
    assert _seen(10, 5, "00ff") == seen != _seen(10, 5, "00fe")
    assert _seen(1, 2, "1") == ((True,), (True,))


def test_a_forest_wants_to_know_how_many_rows_there_are(session: Any) -> None:
    with pytest.raises(UsageError, match="nobody said about how many"):
        sf.learn.Forest("y", spend=1).fit(session)
    with pytest.raises(Refused, match=r"below 10,000: too little to divide"):
        sf.learn.Forest("y", spend=1, expected_rows=5000).fit(session)
    with pytest.raises(UsageError, match="trees"):
        sf.learn.Forest("y", spend=1, expected_rows=10**6, trees=1).fit(session)
    assert session.history() == []


def test_the_units_of_a_forest_are_divided(tmp_path: Path) -> None:
    """Every unit is in one tree, by its id alone: together they hold all rows, and none holds most of them."""
    with opened(tmp_path, people(3000, holes=False), epsilon=10**4) as session:
        forest = sf.learn.Forest("y", spend=5000, trees=3, depth=2, expected_rows=10**6).fit(session)
    sizes = [sum(nodes[0].counts) for nodes in forest.model_.fitted.trees]
    assert sum(sizes) == pytest.approx(3000, abs=20)
    assert all(800 < size < 1200 for size in sizes)


def work(plan: Any, task: Any) -> int:
    """Operators, each counted as often as it is written."""
    certified, kept = certify(plan, task.schema, task.currency), set[Any]()
    return sum(work_of(counting, task.schema, kept).nodes for counting in certified.countings)


@pytest.mark.parametrize(("trees", "depth", "sorting"), [(1, 5, False), (1, 5, True), (5, 3, False), (5, 3, True)])
def test_whatever_is_chosen_is_no_more_work_than_was_weighed_before_paying(
    session: Any, trees: int, depth: int, sorting: bool
) -> None:
    task = task_in(session, ["age", "kids", "city", "grade", "member"])
    growth = Growth(depth, Fraction(1, 4), sorting)
    ranked = sorted_columns(task) if sorting else ()
    largest = root if trees == 1 else _Roots(trees, None)
    assert fits(task, PRICE, growth, largest)
    asked = questions(task, ranked)
    weighed = work(templates(task, Cost(task.currency, Fraction(1)), growth, largest)[-1].plan, task)
    judged = [work(plan, task) for plan in tables_of(fullest(asked, task, depth, trees), task, Fraction(1))]
    for seed in range(20):
        coins = Simulator(seed).stream("choices")
        mine = task.ranked({place: tuple(range(task.columns[place].size)) for place in ranked}) if sorting else task
        level = root(mine) if trees == 1 else _Roots(trees, f"{seed + 1:032x}")(mine)
        for _ in range(depth):
            level = level.below([asked[int(place)] for place in coins.integers(0, len(asked) - 1, level.nodes)])
        assert work(leaf_plan(level, Fraction(1)), mine) <= weighed
        grown = Branches(tuple(_random(asked, depth, coins) for _ in range(trees)))
        for plan, most in zip(tables_of(grown, task, Fraction(1)), judged, strict=True):
            assert work(plan, task) <= most


def _random(asked: Any, depth: int, coins: Any) -> tuple[Node, ...]:
    """A tree whose nodes ask anything, or nothing: what is not worth it was taken back."""
    nodes: list[Any] = [None]
    waiting = [(0, 0)]
    while waiting:
        place, deep = waiting.pop(0)
        chosen = asked[int(coins.integers(0, len(asked) - 1, 1)[0])]
        if deep == depth or coins.uniform(1)[0] < 0.1:
            nodes[place] = Node(-1, (), (), (), 0, (SHARES // 2, SHARES // 2))
            continue
        children = (len(nodes), len(nodes) + 1)
        nodes += [None, None]
        nodes[place] = Node(chosen.column, chosen.right, children, (), 0, (SHARES // 2, SHARES // 2))
        waiting += [(child, deep + 1) for child in children]
    return tuple(nodes)
