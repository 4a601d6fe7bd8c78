"""Homogeneity, background knowledge, skewness and intersection, on small tables by hand and on noisy counts."""

from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import sfumato as sf
from sfumato.attacks import background_knowledge, homogeneity, intersection, skewness
from sfumato.attacks.cover import covering
from sfumato.datasets import population
from sfumato.errors import UsageError
from sfumato.simulate import Simulator

# Three classes of three: one homogeneous, one with two values, one with three.
WARD = pa.table(
    {
        "age": ["20-29"] * 3 + ["30-39"] * 3 + ["40-49"] * 3,
        "illness": ["flu", "flu", "flu", "flu", "asthma", "asthma", "flu", "asthma", "angina"],
    }
)


def test_homogeneity_finds_the_classes_without_a_secret() -> None:
    result = homogeneity(WARD, ["age"], "illness")
    assert result.recovered == [{"age": "20-29", "illness": "flu", "persons": 3}]
    assert result.success == pytest.approx(3 / 9)
    assert result.chance == pytest.approx(3 / 9)  # "flu" is what everybody would have said
    assert (result.bound, result.attempts) == (None, 9)


def test_chance_counts_the_usual_value_only() -> None:
    rare = pa.table({"age": ["1"] * 2 + ["2"] * 4, "illness": ["angina"] * 2 + ["flu", "flu", "flu", "asthma"]})
    result = homogeneity(rare, ["age"], "illness")
    assert (result.success, result.chance) == (pytest.approx(2 / 6), 0)


def test_background_knowledge_empties_more_classes() -> None:
    shares = [background_knowledge(WARD, ["age"], "illness", rule_out=less).success for less in (0, 1, 2)]
    assert shares == [pytest.approx(3 / 9), pytest.approx(6 / 9), 1]
    told = background_knowledge(WARD, ["age"], "illness", rule_out=1)
    assert told.chance == pytest.approx(6 / 9)
    assert told.recovered[-1]["persons"] in (1, 2)


def test_skewness_guesses_by_class() -> None:
    result = skewness(WARD, ["age"], "illness")
    assert result.success == pytest.approx(6 / 9)
    assert result.chance == pytest.approx(5 / 9)
    assert result.measures["largest_gain"] == pytest.approx((1 / 3) / (1 / 9))
    assert result.recovered[0] == {
        "age": "20-29",
        "illness": "flu",
        "prior": pytest.approx(5 / 9),
        "posterior": 1.0,
    }


def test_persons_are_found_in_their_classes() -> None:
    persons = pa.table({"age": [25, 33, 47, 80], "illness": ["flu", "asthma", "angina", "flu"]})
    result = homogeneity(WARD, ["age"], "illness", persons=persons)
    assert result.recovered == [{"age": 25, "illness": "flu", "persons": 1}]
    assert result.success == 0.25


def test_nobody_found_is_an_error() -> None:
    with pytest.raises(UsageError, match="no person fits"):
        homogeneity(WARD, ["age"], "illness", persons=pa.table({"age": [99], "illness": ["flu"]}))


@pytest.mark.parametrize(
    ("general", "value", "inside"),
    [
        ("[20, 30)", 20, True),
        ("[20, 30)", 30, False),
        ("[20, 30[", 30, False),
        ("]20, 30]", 20, False),
        ("(20, 30]", 30, True),
        ("20-29", 29, True),
        ("20-29", 30, False),
        ("-5–5", 0, True),
        ("*", 7, True),
        (None, 7, True),
        ("41", 41.0, True),
        ("699**", "69913", True),
        ("699**", "6991", False),
        ("{a, b}", "b", True),
        ("{a, b}", "c", False),
        ("Government", "State-gov", True),
        ("Government", "Private", False),
        ("[20, 30)", "twenty", False),
    ],
)
def test_a_general_value_contains_what_it_came_from(general: object, value: object, inside: bool) -> None:
    heads, persons = pa.table({"x": [general]}), pa.table({"x": [value]})
    tree = {"x": {"State-gov": ["Government", "*"], "Private": ["Non-government", "*"]}}
    assert covering(heads, persons, ["x"], tree).tolist() == [[inside]]


def test_hierarchies_come_from_files_and_tables(tmp_path: Path) -> None:
    place = tmp_path / "work.csv"
    place.write_text("State-gov;Government;*\nPrivate;Other;*\n", encoding="utf-8")
    heads, persons = pa.table({"x": ["Government"]}), pa.table({"x": ["State-gov", "Private"]})
    table = [{"value": "State-gov", "one": "Government"}, {"value": "Private", "one": "Other"}]
    for tree in (place, str(place), table):
        assert covering(heads, persons, ["x"], {"x": tree}).tolist() == [[True], [False]]
    with pytest.raises(UsageError, match='hierarchy of "x"'):
        covering(heads, persons, ["x"], {"x": tmp_path / "missing.csv"})


# ---- intersection


def blurred(table: pa.Table, column: str) -> pa.Table:
    return table.set_column(table.column_names.index(column), column, pa.array(["*"] * table.num_rows))


def test_two_releases_say_more_than_each() -> None:
    """One keeps ages and blurs districts, the other the reverse: both 5-anonymous, and together an open book."""
    draw, people = Simulator(0), 900
    table = pa.table(
        {
            "age": draw.stream("age").integers(0, 89, people),
            "district": draw.stream("district").integers(0, 69, people),
            "illness": draw.stream("illness").integers(0, 199, people).astype(str),
        }
    )
    releases = [blurred(table, "district"), blurred(table, "age")]
    for release, column in zip(releases, ("age", "district"), strict=True):
        rare = release.group_by(column).aggregate([([], "count_all")]).filter(pc.field("count_all") < 5)[column]
        table = table.filter(pc.invert(pc.is_in(table[column], rare)))
    releases = [blurred(table, "district"), blurred(table, "age")]
    result = intersection(*releases, ["age", "district"], "illness", persons=table)
    assert max(result.measures["first_alone"], result.measures["second_alone"]) == 0
    assert result.success > 0.4
    assert result.chance < 0.02


def test_intersection_names_the_value_that_both_allow() -> None:
    first = pa.table({"age": ["[20, 40)"] * 3, "illness": ["flu", "asthma", "angina"]})
    second = pa.table({"age": ["[30, 50)"] * 3, "illness": ["flu", "gout", "cough"]})
    persons = pa.table({"age": [35], "illness": ["flu"]})
    result = intersection(first, second, ["age"], "illness", persons=persons)
    assert result.success == 1
    assert result.recovered == [{"age": 35, "illness": "flu", "persons": 1}]
    assert dict(result.measures) == {"claimed": 1.0, "first_alone": 0.0, "second_alone": 0.0}


# ---- through a session


@pytest.fixture(scope="module")
def town() -> pa.Table:
    table = population(4_000).select(["age", "sex", "income_class"])
    decade = pa.array((table["age"].to_numpy() // 10 * 10).astype(int))
    return table.set_column(0, "age", decade)


@pytest.fixture(scope="module")
def counts(town: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    """Income by decade and sex through a session, for epsilon 1."""
    decades = sorted(set(town["age"].to_pylist()))
    with sf.protect(
        town,
        unit=sf.Row(),
        columns={
            "age": sf.Category(decades),
            "sex": sf.Category(["Female", "Male"]),
            "income_class": sf.Category(["<=50K", ">50K"]),
        },
        budget=sf.Budget(epsilon=1),
        ledger=tmp_path_factory.mktemp("town") / "town.ledger",
    ) as session:
        sql = "SELECT age, sex, income_class, COUNT(*) AS n FROM data GROUP BY age, sex, income_class"
        return session.ask(sql, spend=1).to_arrow()


@pytest.mark.parametrize("attack", [homogeneity, background_knowledge, skewness])
def test_noisy_counts_stay_within_the_promise(attack, town: pa.Table, counts: pa.Table) -> None:
    result = attack(counts, ["age", "sex"], "income_class", persons=town, weight="n", epsilon=1)
    assert result.success <= result.bound
    assert result.attempts == town.num_rows


def test_the_intersection_of_private_counts_stays_within_the_promise(town: pa.Table, counts: pa.Table) -> None:
    result = intersection(counts, counts, ["age", "sex"], "income_class", persons=town, weight="n", epsilon=1)
    assert result.success <= result.bound


def test_the_bound_is_broken_by_counts_that_are_not_private() -> None:
    """The twin: one fair secret a person, and a release of exact counts that claims epsilon 0.1."""
    people = 400
    secret = Simulator(3).stream("secret").integers(0, 1, people)
    table = pa.table({"pid": np.arange(people), "secret": secret})
    exact = homogeneity(table, ["pid"], "secret")
    assert exact.success == 1
    # Nobody else's record says anything here, so chance is what the others can teach.
    assert exact.success > sf.attacks.promise.most_hits(0.55, 0.1)


def test_private_counts_of_single_persons_are_coins() -> None:
    people = 400
    secret = Simulator(3).stream("secret").integers(0, 1, people)
    cells = list(product(range(people), (0, 1)))
    counts = [int(secret[pid] == value) for pid, value in cells]
    noisy = sf.noise.geometric(counts, sensitivity=1, epsilon=0.5)
    released = pa.table({"pid": [p for p, _ in cells], "secret": [v for _, v in cells], "n": noisy})
    result = skewness(
        released, ["pid"], "secret", persons=pa.table({"pid": range(people), "secret": secret}), weight="n"
    )
    assert result.success < sf.attacks.promise.most_hits(0.55, 0.5) + 0.12


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"quasi": "age"}, "list"),
        ({"quasi": []}, "quasi-identifier"),
        ({"quasi": ["aeg"]}, "Did you mean"),
        ({"sensitive": "ilness"}, "Did you mean"),
        ({"weight": "illness"}, "finite numbers"),
    ],
)
def test_wrong_columns_are_named(arguments: dict, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        homogeneity(WARD, **({"quasi": ["age"], "sensitive": "illness"} | arguments))
