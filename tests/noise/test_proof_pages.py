"""Proof pages keep their numbers."""

import re
from fractions import Fraction

import sfumato.noise as noise
from sfumato.kernel.mechanisms.keys import KeySelection
from tests.pages import text


def page(name: str) -> str:
    return text(f"proofs/{name}.md")


def test_the_table_of_the_staircase() -> None:
    rows = re.findall(r"^\| (\d) \| ([\d.]+) Δ \| ([\d.]+) Δ \| (\d+) % \|$", page("staircase"), flags=re.MULTILINE)
    assert len(rows) == 3
    for epsilon, laplace, ours, less in rows:
        mean = noise.describe("staircase", sensitivity=1, epsilon=int(epsilon)).scale
        assert f"{1 / int(epsilon):.3f}" == laplace
        assert f"{mean:.3f}" == ours
        assert round(100 * (1 - mean * int(epsilon))) == int(less)


def test_the_table_of_key_selection() -> None:
    rows = re.findall(r"^\| (\d) \| (\d+) \| (\d+) \|$", page("key-selection"), flags=re.M)
    assert len(rows) == 3
    for groups, quarter, whole in rows:
        for part, people in ((4, quarter), (1, whole)):
            law = KeySelection(Fraction(6225, 10**6) / part, Fraction(1, 10**8), int(groups))
            assert law.units_for(Fraction(1, 2)) == int(people)
    ranges = re.findall(r"^\| (\d+) \| (\d+) to (\d+) \| (\d+) to (\d+) \|$", page("key-selection"), flags=re.M)
    assert [groups for groups, *_ in ranges] == ["2", "5", "10"]
    for groups, *people in ranges:
        for part, few, many in ((4, *people[:2]), (1, *people[2:])):
            law = KeySelection(Fraction(6225, 10**6) / part, Fraction(1, 10**8), int(groups), weighted=True)
            assert [law.units_for(Fraction(1, 2), held) for held in (1, int(groups))] == [int(few), int(many)]


def test_the_table_of_the_doctors() -> None:
    text = page("classical-gaussian")
    classical_one = noise.classical_gaussian_deviation(20**0.5, 0.1, 1e-5)
    exact_one = noise.analytic_gaussian_deviation(20**0.5, 0.1, 1e-5)
    for deviation in (2**0.5 * 20 / 0.1, classical_one, exact_one):
        assert f"| {deviation:.1f} |" in text
    assert f"{classical_one / exact_one:.2f} times the exact deviation" in text
