"""Every mechanism keeps the contract, and none is without one."""

import importlib
import inspect
import pkgutil

import pytest

import sfumato.kernel
import sfumato.noise as noise
from tests.contract.answers import ANSWERS
from tests.contract.check_mechanism import check_mechanism
from tests.contract.choices import CHOICES
from tests.contract.groups import GROUPS
from tests.contract.numbers import NUMBERS
from tests.marks import few

SPECS = {spec.name: spec for spec in (*NUMBERS, *CHOICES, *ANSWERS, *GROUPS)}
NO_MECHANISMS = {
    "Description",
    "analytic_gaussian_deviation",
    "classical_gaussian_deviation",
    "describe",
    "draw_densities",
    "draw_errors",
    "epsilon_for",
    "interval",
}


# Draws of ranks against their law, on shorter lines, are in tests/kernel/test_ranks.py, too.
@pytest.mark.parametrize("name", few(SPECS, lambda name: name != "RankChoice"))
def test_contract(name: str) -> None:
    check_mechanism(SPECS[name])


def without_contract(names: set[str]) -> set[str]:
    return names - NO_MECHANISMS - SPECS.keys() - {name for spec in SPECS.values() for name in spec.also}


def test_every_public_mechanism_has_a_contract() -> None:
    assert without_contract(set(noise.__all__)) == set()
    assert set(noise.__all__) >= NO_MECHANISMS


def test_a_mechanism_without_a_contract_is_noticed() -> None:
    assert without_contract({*noise.__all__, "cauchy"}) == {"cauchy"}


def test_every_class_of_the_kernel_that_draws_has_a_contract() -> None:
    drawing = set()
    for module in pkgutil.walk_packages(sfumato.kernel.__path__, "sfumato.kernel."):
        for name, kind in vars(importlib.import_module(module.name)).items():
            if inspect.isclass(kind) and hasattr(kind, "draw") and kind.__module__.startswith("sfumato.kernel"):
                drawing.add(name)
    assert {"DiscreteLaplace", "DiscreteGaussian", "Exponential", "PermuteAndFlip", "KeySelection"} <= drawing
    # Mechanism is the shape of them all. What finds bounds or ends first has many outputs, and a choice among questions
    # looks at tables: their laws are in the audit and in tests/kernel/test_{found_bounds,found_ends,splits}.py.
    assert drawing - SPECS.keys() == {"BoundedSum", "FoundEnds", "QuestionChoice", "Mechanism"}
