"""What travels: JSON, fingerprints, and everything that is refused, by row and reason."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import DataUnreadable, Refused, UsageError
from tests.entropy import SeededEntropy

DRINKS = ["tea", "coffee", "water"]
NAMES = ["grr", "sue", "oue", "olh", "hadamard", "subset", "rappor", "auto"]


def every_protocol() -> dict[str, tuple[Any, Any]]:
    """A protocol and values for it."""
    found = {name: (sf.local.protocol(name, domain=DRINKS, epsilon=1), DRINKS * 20) for name in NAMES}
    found["rr"] = sf.local.protocol("rr", domain=[False, True]), [True, False] * 30
    for name in ("duchi", "piecewise", "hybrid", "laplace"):
        found[name] = sf.local.mean(name, lower=0, upper=10, epsilon=1), [0, 2.5, 10] * 20
    for way in ("sample", "split"):
        parts = {"drink": DRINKS, "age": (0, 100), "smokes": [False, True]}
        rows = {"drink": DRINKS * 20, "age": [30, 40, 50] * 20, "smokes": [True, False, False] * 20}
        found[way] = sf.local.attributes(parts, epsilon=1, way=way), rows
    found["hitters"] = sf.local.heavy_hitters(alphabet="abc", length=3, epsilon=1), ["abc", "a", "bb"] * 20
    return found


PROTOCOLS = every_protocol()


@pytest.mark.parametrize("name", PROTOCOLS)
def test_reports_survive_json_and_every_way_to_add_them(name: str) -> None:
    protocol, values = PROTOCOLS[name]
    reports = protocol.randomise(values, entropy=SeededEntropy(name))
    lines = list(reports.lines())
    assert [json.loads(line) for line in lines] == reports.rows
    assert len(reports) == 60
    expected = protocol.estimate(reports).to_dict()
    assert protocol.estimate(reports.rows).to_dict() == expected
    assert protocol.estimate(lines).to_dict() == expected
    halves = protocol.server().add(lines[:20]).merge(protocol.server().add(lines[20:]))
    assert halves.users == 60
    for row, one in zip(halves.estimate().rows, expected["rows"], strict=True):
        assert row.keys() == one.keys()
        assert all(row[key] == one[key] or row[key] == pytest.approx(one[key]) for key in row)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_specification_makes_the_same_protocol_elsewhere(name: str, tmp_path: Path) -> None:
    protocol, values = PROTOCOLS[name]
    protocol.save(tmp_path / "spec.json")
    other = sf.local.load(tmp_path / "spec.json")
    assert other.fingerprint == protocol.fingerprint
    assert other.epsilon == protocol.epsilon
    assert other.estimate(protocol.randomise(values, entropy=SeededEntropy(name))).users == 60


@pytest.mark.parametrize("name", PROTOCOLS)
def test_reports_of_other_parameters_are_refused_by_row(name: str) -> None:
    protocol, values = PROTOCOLS[name]
    rows = protocol.randomise(values, entropy=SeededEntropy(name)).rows
    other = sf.local.protocol("grr", domain=["tea", "coffee"], epsilon=1)
    strange = other.randomise(["tea"])
    with pytest.raises(Refused, match=r"row 61: .* other parameters"):
        protocol.estimate([*rows, *strange.rows])
    with pytest.raises(Refused, match=r"row 1: .* other parameters"):
        protocol.estimate(strange)
    with pytest.raises(Refused, match="other parameters"):
        protocol.server().merge(other.server())


@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize(
    "bad",
    [None, "x", -1, 1.5, True, [], [1], [0, 1, 2, 3, 4], {"a": 1}, 10**30, "zz", [0, "zz"], [9, 9], [10**9, 0, 0]],
    ids=repr,
)
def test_what_is_no_report_is_refused_by_row(name: str, bad: Any) -> None:
    if (name, bad) == ("laplace", -1):
        pytest.skip("a number below the bounds is what Laplace noise may give")
    protocol, values = PROTOCOLS[name]
    rows = protocol.randomise(values, entropy=SeededEntropy(name)).rows
    spoilt = [*rows[:4], {"protocol": protocol.fingerprint, "report": bad}, *rows[4:]]
    with pytest.raises(DataUnreadable, match="row 5: "):
        protocol.estimate(spoilt)


@pytest.mark.parametrize("bad", ["no json", "[]", "3", '{"protocol": "x"}', {"report": 1}, None, 7], ids=repr)
def test_what_has_no_envelope_is_refused_by_row(bad: Any) -> None:
    protocol, _ = PROTOCOLS["grr"]
    with pytest.raises(DataUnreadable, match="row 2: this is not"):
        protocol.estimate([protocol.client().report("tea"), bad])


def test_bits_beyond_the_domain_and_wrong_sets_are_refused() -> None:
    unary, subset = (sf.local.protocol(name, domain=range(20), epsilon=1) for name in ("oue", "subset"))
    for protocol, text, reason in (
        (unary, "0000f0", "beyond the 20"),
        (unary, "0000", "hexadecimal"),
        (unary, "00000G", "hexadecimal"),
        (subset, "000000", "does not name 5 values"),
        (subset, "ffff0f", "does not name 5 values"),
    ):
        with pytest.raises(DataUnreadable, match=f"row 1: .*{reason}"):
            protocol.estimate([{"protocol": protocol.fingerprint, "report": text}])


@pytest.mark.parametrize(
    "column",
    [
        lambda v: v,
        tuple,
        np.array,
        pd.Series,
        lambda v: pl.Series("x", v),
        pa.array,
        lambda v: pa.chunked_array([v[:3], v[3:]]),
        lambda v: iter(v),
    ],
)
@pytest.mark.parametrize(
    ("domain", "values"),
    [
        (DRINKS, DRINKS * 4),
        (range(5), [0, 4, 2] * 4),
        (range(5), [0.0, 4.0, 2.0] * 4),
        ([False, True], [True, False] * 6),
        ([1.5, 2.5], [1.5] * 12),
    ],
)
def test_every_kind_of_column(column: Any, domain: Any, values: list[Any]) -> None:
    protocol = sf.local.protocol("grr", domain=domain, epsilon=30)
    expected = [list(domain).index(value) for value in values]
    assert protocol.randomise(column(values), entropy=SeededEntropy("kinds")).columns[0].tolist() == expected


@pytest.mark.parametrize("bad", ["milk", None, 3, float("nan"), ["tea"], b"tea", ""], ids=repr)
def test_a_value_outside_is_refused_by_row_and_not_shown(bad: Any) -> None:
    with pytest.raises(UsageError, match="row 3: the answer is not in the domain") as caught:
        sf.local.protocol("auto", domain=DRINKS, epsilon=1).randomise(["tea", "tea", bad])
    assert "milk" not in str(caught.value)
    with pytest.raises(UsageError, match="row 2: "):
        sf.local.protocol("auto", domain=range(3), epsilon=1).randomise(np.array([0, 3]))
    with pytest.raises(UsageError, match="row 2: "):
        sf.local.protocol("auto", domain=range(3), epsilon=1).randomise([0, 2.5])


@pytest.mark.parametrize("bad", [-1, 11, float("nan"), float("inf"), None, "x", [1]], ids=repr)
def test_a_number_outside_is_refused_by_row(bad: Any) -> None:
    with pytest.raises(UsageError, match="row 2: "):
        sf.local.mean(lower=0, upper=10, epsilon=1).randomise([5, bad])


@pytest.mark.parametrize("bad", ["abcd", "", "xyz", 3, None, "a\0"], ids=repr)
def test_a_text_outside_is_refused_by_row(bad: Any) -> None:
    with pytest.raises(UsageError, match="row 2: not a text of 1 to 3"):
        sf.local.heavy_hitters(alphabet="abc", length=3, epsilon=1).randomise(["abc", bad])


def test_rows_of_attributes() -> None:
    protocol = sf.local.attributes({"x": [1, 2], "y": (0, 1)}, epsilon=1)
    frame = {"x": [1, 2, 1], "y": [0.0, 0.5, 1.0]}
    for table in (frame, pd.DataFrame(frame), pl.DataFrame(frame), pa.table(frame)):
        assert len(protocol.randomise(table)) == 3
    for bad, says in (
        ({"x": [1]}, 'no column "y"'),
        ({"x": [1], "y": [0, 1]}, "different lengths"),
        ([1, 2], "list"),
        ({"x": [1, 3], "y": [0, 0]}, "row 2"),
    ):
        with pytest.raises(UsageError, match=says):
            protocol.randomise(bad)


@pytest.mark.parametrize("values", ["tea", 3, None, {"a": 1}, np.zeros((2, 2)), [], np.array([])], ids=repr)
def test_what_is_no_column(values: Any) -> None:
    with pytest.raises(UsageError):
        sf.local.protocol("grr", domain=DRINKS, epsilon=1).randomise(values)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: sf.local.protocol("gr", domain=DRINKS, epsilon=1), 'Did you mean "grr"'),
        (lambda: sf.local.protocol("grr", domain=DRINKS), "needs an epsilon"),
        (lambda: sf.local.protocol("grr", domain=DRINKS, epsilon=0), "epsilon must be greater"),
        (lambda: sf.local.protocol("grr", domain=DRINKS, epsilon=41), "protects nobody"),
        (lambda: sf.local.protocol("grr", domain=DRINKS, epsilon=1e-9), "tells nothing"),
        (lambda: sf.local.protocol("grr", domain=DRINKS, epsilon=float("nan")), "epsilon"),
        (lambda: sf.local.protocol("grr", domain=DRINKS, epsilon=1, bits=8), 'no option "bits"'),
        (lambda: sf.local.protocol("rappor", domain=DRINKS, epsilon=1, bits=9), "power of two"),
        (lambda: sf.local.protocol("rappor", domain=DRINKS, epsilon=1, hashes=99), "hashes"),
        (lambda: sf.local.protocol("rappor", domain=DRINKS, epsilon=1, cohorts=10**6), "cohorts"),
        (lambda: sf.local.protocol("rappor", domain=DRINKS, epsilon=1, p=0.8), "p must lie below q"),
        (lambda: sf.local.protocol("rr", domain=DRINKS), "two answers"),
        (lambda: sf.local.protocol("grr", domain=["tea"], epsilon=1), "domain must be"),
        (lambda: sf.local.protocol("grr", domain=["tea", "tea"], epsilon=1), "domain must be"),
        (lambda: sf.local.protocol("grr", domain=[1, True], epsilon=1), "domain must be"),
        (lambda: sf.local.protocol("grr", domain="tea", epsilon=1), "domain must be"),
        (lambda: sf.local.protocol("grr", domain=[None, 1], epsilon=1), "domain must be"),
        (lambda: sf.local.protocol("grr", domain=[1.5, float("inf")], epsilon=1), "domain must be"),
        (lambda: sf.local.protocol("grr", domain=["\ud800", "a"], epsilon=1), "domain must be"),
        (lambda: sf.local.protocol("oue", domain=range(10**6), epsilon=1), "at most 65,536"),
        (lambda: sf.local.mean("median", lower=0, upper=1, epsilon=1), "no protocol"),
        (lambda: sf.local.mean(lower=1, upper=1, epsilon=1), "lower must lie below"),
        (lambda: sf.local.attributes({}, epsilon=1), "attributes must name"),
        (lambda: sf.local.attributes({"a": [1, 2]}, epsilon=1, way="all"), "no protocol"),
        (lambda: sf.local.heavy_hitters(alphabet="aa", length=3, epsilon=1), "alphabet"),
        (lambda: sf.local.heavy_hitters(alphabet="ab", length=0, epsilon=1), "length"),
        (lambda: sf.local.protocol("grr", domain=DRINKS, epsilon=1).estimate([]), "no report"),
        (lambda: sf.local.protocol("grr", domain=DRINKS, epsilon=1).estimate([], 95), "confidence"),
        (lambda: sf.local.poisoning(sf.local.protocol("grr", domain=DRINKS, epsilon=1), liars=5, users=4), "liars"),
        (lambda: sf.local.poison(sf.local.mean(lower=0, upper=1, epsilon=1), 1, liars=5), "no protocol"),
    ],
)  # fmt: skip
def test_declarations_that_are_refused(call: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        call()


GOOD = {"sfumato": 1, "protocol": "grr", "epsilon": "1", "domain": ["a", "b"]}


@pytest.mark.parametrize(
    "spec",
    [
        {}, [], "nowhere.json", {**GOOD, "sfumato": 2}, {**GOOD, "epsilon": "1e999999999"}, {**GOOD, "epsilon": 1},
        {**GOOD, "extra": 1}, {**GOOD, "protocol": "x"}, {**GOOD, "domain": 3}, {**GOOD, "epsilon": "1/0"},
        {"sfumato": 1, "protocol": "grr"}, {**GOOD, "epsilon": "ln 3"}, {**GOOD, "protocol": "subset", "chosen": 7},
        {**GOOD, "domain": {"from": "a", "to": "b"}}, {**GOOD, "epsilon": "-1"},
    ],
    ids=repr,
)  # fmt: skip
def test_specifications_that_are_refused(spec: Any) -> None:
    with pytest.raises((UsageError, DataUnreadable)):
        sf.local.load(spec)
    assert sf.local.load(GOOD).name == "grr"


def test_the_same_parameters_and_no_others_have_the_same_fingerprint() -> None:
    marks = {
        sf.local.protocol(name, domain=domain, epsilon=epsilon).fingerprint
        for name in ("grr", "oue")
        for domain in (["a", "b"], ["b", "a"], range(2), ["0", "1"])
        for epsilon in (1, 2)
    }
    assert len(marks) == 16
    one, other = (sf.local.protocol("grr", domain=["a", "b"], epsilon=price) for price in (0.1, Fraction(1, 10)))
    assert one.fingerprint == other.fingerprint


@pytest.mark.parametrize("name", ["grr", "sue", "oue", "olh", "hadamard", "subset"])
def test_poisoning_keeps_its_bound(name: str) -> None:
    protocol = sf.local.protocol(name, domain=range(20), epsilon=1)
    reports = protocol.randomise(np.zeros(2000, dtype=int), entropy=SeededEntropy("honest"))
    honest = protocol.estimate(reports).unbiased
    lies = sf.local.poison(protocol, 7, liars=50, entropy=SeededEntropy("liars"))
    moved = protocol.server().add(reports).add(lies.rows).estimate().unbiased - honest
    bound = sf.local.poisoning(protocol, liars=50, users=2050)
    assert moved[7] == pytest.approx(bound.most)
    assert np.all(moved <= bound.most + 1e-9)
    assert np.all(moved >= bound.least - 1e-9)


def test_what_is_drawn_does_not_depend_on_the_values() -> None:
    for name in NAMES:
        protocol, reads = sf.local.protocol(name, domain=range(10), epsilon=1), set()
        for value in range(10):
            entropy = SeededEntropy("blind")
            protocol.randomise(np.full(300, value), entropy=entropy)
            reads.add((entropy.words_read, entropy.extensions))
        assert len(reads) == 1
