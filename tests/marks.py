"""Parameters of which `make test` runs a few, and `make exhaustive` the others."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def few(cases: Iterable[Any], kept: Callable[[Any], bool]) -> list[Any]:
    """All cases; those that are not kept are exhaustive."""
    return [case if kept(case) else pytest.param(*_parts(case), marks=pytest.mark.exhaustive) for case in cases]


def one_in(many: int, cases: Iterable[Any]) -> list[Any]:
    """All cases; the first of every so many is kept."""
    listed = list(cases)
    kept = {id(case) for case in listed[::many]}
    return few(listed, lambda case: id(case) in kept)


def _parts(case: Any) -> tuple[Any, ...]:
    return case if type(case) is tuple else (case,)
