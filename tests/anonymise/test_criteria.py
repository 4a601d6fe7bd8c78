"""l and t by the definitions, t against the transport linear program."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
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


def test_many_values_are_measured_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    source = np.random.default_rng(1)
    table = pd.DataFrame({"group": source.integers(300, size=4000), "value": source.integers(500, size=4000)})
    whole = sf.anonymise.verify(table, ["group"], sensitive="value")
    monkeypatch.setattr("sfumato.anonymise.criteria.CELLS", 5000)
    assert sf.anonymise.verify(table, ["group"], sensitive="value").to_dict() == pytest.approx(whole.to_dict())


def test_several_sensitive_columns_count_by_the_worst() -> None:
    table = [{"q": "x", "a": 1, "b": "u"}, {"q": "x", "a": 2, "b": "u"}, {"q": "y", "a": 1, "b": "v"}]
    alone = [sf.anonymise.verify(table, ["q"], sensitive=name) for name in ("a", "b")]
    both = sf.anonymise.verify(table, ["q"], sensitive=["a", "b"])
    assert both.l == min(one.l for one in alone)
    assert both.t == max(one.t for one in alone)
