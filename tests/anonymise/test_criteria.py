"""l and t by the definitions, t against the transport linear program."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.anonymise.counts import Pairs, Table
from tests.anonymise import oracle

RIVERS = {"Oder": ("Baltic", "*"), "Vistula": ("Baltic", "*"), "Rhine": ("North", "*"), "Elbe": ("North", "*")}


def rows(seed: int, values: list[Any]) -> list[dict[str, Any]]:
    source = np.random.default_rng(seed)
    weights = source.dirichlet(np.ones(len(values)))
    return [
        {"group": str(source.integers(6)), "value": values[int(source.choice(len(values), p=weights))]}
        for _ in range(90)
    ] + [{"group": "0", "value": value} for value in values]


@pytest.mark.parametrize("seed", range(5))
def test_equal_distance(seed: int) -> None:
    table = rows(seed, ["a", "b", "c", "d"])
    ground = [[float(a != b) for b in range(4)] for a in range(4)]
    found = sf.anonymise.verify(table, ["group"], sensitive="value")
    assert found.t == pytest.approx(oracle.t_of(table, ["group"], "value", ground), abs=1e-9)
    assert found.k == oracle.k_of(table, ["group"])
    assert found.l == oracle.l_of(table, ["group"], "value")
    parts = oracle.groups(table, ["group"])
    assert found.entropy_l == pytest.approx(min(np.exp(oracle.entropy_of(part, "value")) for part in parts))
    if found.l > 1:
        assert found.recursive_c == pytest.approx(max(oracle.recursive_of(part, "value", found.l) for part in parts))
    else:
        assert found.recursive_c == np.inf


@pytest.mark.parametrize("seed", range(5))
def test_ordered_distance(seed: int) -> None:
    table = rows(seed, [10, 20, 50, 70, 90])
    ground = [[abs(a - b) / 4 for b in range(5)] for a in range(5)]
    expected = oracle.t_of(table, ["group"], "value", ground)
    assert sf.anonymise.verify(table, ["group"], sensitive="value").t == pytest.approx(expected, abs=1e-9)
    assert sf.anonymise.verify(table, ["group"], sensitive="value", distance="equal").t >= expected - 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_hierarchical_distance(seed: int) -> None:
    names = sorted(RIVERS)
    table = rows(seed, names)
    ground = [[0.0 if a == b else 0.5 if RIVERS[a][0] == RIVERS[b][0] else 1.0 for b in names] for a in names]
    rule = {"value": [(river, *groups) for river, groups in RIVERS.items()]}
    found = sf.anonymise.verify(table, ["group"], sensitive="value", distance="hierarchical", hierarchies=rule)
    assert found.t == pytest.approx(oracle.t_of(table, ["group"], "value", ground), abs=1e-9)


@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
@pytest.mark.parametrize("seed", range(4))
def test_many_values_are_measured_in_pairs(seed: int, distance: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = np.random.default_rng(seed)
    size, groups = (500, 300) if seed else (3, 2)
    table = pd.DataFrame({"group": source.integers(groups, size=4000), "value": source.integers(size, size=4000)})
    rule = {"value": "intervals:5,20,100"} if distance == "hierarchical" else None
    wish = {"sensitive": "value", "distance": distance, "hierarchies": rule}
    whole = sf.anonymise.verify(table, ["group"], **wish)
    monkeypatch.setattr("sfumato.anonymise.counts.CELLS", 5)
    assert sf.anonymise.verify(table, ["group"], **wish).to_dict() == pytest.approx(whole.to_dict(), rel=1e-12)


def test_pairs_say_the_same_of_every_group() -> None:
    source = np.random.default_rng(7)
    groups, codes = source.integers(1, 40, size=900), source.integers(0, 25, size=900)
    counts, whole = source.integers(1, 5, size=900).astype(float), source.integers(0, 9, size=25).astype(float)
    ladder = (np.arange(25), np.arange(25) // 4, np.arange(25) // 12, np.zeros(25, dtype=int))
    # The first group and the last are empty.
    table = Table(np.bincount(groups * 25 + codes, weights=counts, minlength=41 * 25).reshape(41, 25))
    order = np.unique(groups * 25 + codes)
    pairs = Pairs(order // 25, order % 25, table.cells[order // 25, order % 25], 41)
    for measure in ("distinct", "entropy"):
        assert getattr(pairs, measure)() == pytest.approx(getattr(table, measure)())
    for rank in (1, 2, 5):
        assert pairs.recursive(rank) == pytest.approx(table.recursive(rank))
    assert pairs.equal(whole) == pytest.approx(table.equal(whole), abs=1e-12)
    assert pairs.ordered(whole) == pytest.approx(table.ordered(whole), abs=1e-12)
    assert pairs.hierarchical(whole, ladder) == pytest.approx(table.hierarchical(whole, ladder), abs=1e-12)


def test_several_sensitive_columns_count_by_the_worst() -> None:
    table = [{"q": "x", "a": 1, "b": "u"}, {"q": "x", "a": 2, "b": "u"}, {"q": "y", "a": 1, "b": "v"}]
    alone = [sf.anonymise.verify(table, ["q"], sensitive=name) for name in ("a", "b")]
    both = sf.anonymise.verify(table, ["q"], sensitive=["a", "b"])
    assert both.l == min(one.l for one in alone)
    assert both.t == max(one.t for one in alone)
