"""Proof pages: the page a docstring names exists, names code that exists, and keeps its numbers."""

import inspect
import re
from fractions import Fraction
from pathlib import Path

import pytest

import sfumato.noise as noise
from sfumato.kernel.mechanisms import keys
from sfumato.kernel.mechanisms.keys import KeySelection
from sfumato.noise import classical, coins, ranking, response, sparse_vector, stairs

DOCS = Path(__file__).parents[2] / "docs"
MODULES = [classical, coins, ranking, response, keys, sparse_vector, stairs]
PAGES = [
    "staircase",
    "randomised-response",
    "noisy-max",
    "top-k",
    "sparse-vector",
    "classical-gaussian",
    "key-selection",
]


def page(name: str) -> str:
    return (DOCS / "proofs" / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_pages_a_docstring_names_exist(module: object) -> None:
    named = re.findall(r"docs/proofs/([\w-]+)\.md", inspect.getsource(module))
    assert named
    for name in named:
        assert page(name)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_states_its_claim_and_names_code_and_tests_that_exist(name: str) -> None:
    text = page(name)
    assert "**Claim.**" in text
    assert "**Needs.**" in text
    paths = re.findall(r"`((?:src|tests)/[\w/.]+)`", text)
    assert any(path.startswith("src/") for path in paths)
    assert any(path.startswith("tests/") for path in paths)
    for path in paths:
        assert (DOCS.parent / path).exists(), path
    for target in re.findall(r"\]\(([\w-]+\.md)\)", text):
        assert (DOCS / "proofs" / target).exists(), target


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


def test_the_table_of_the_doctors() -> None:
    text = page("classical-gaussian")
    classical_one = noise.classical_gaussian_deviation(20**0.5, 0.1, 1e-5)
    exact_one = noise.analytic_gaussian_deviation(20**0.5, 0.1, 1e-5)
    for deviation in (2**0.5 * 20 / 0.1, classical_one, exact_one):
        assert f"| {deviation:.1f} |" in text
    assert f"{classical_one / exact_one:.2f} times the exact deviation" in text
