"""How a judge calls a student's functions: the protocol, and the form of it in the student's own notebook."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from sfumato.labs.generators import Recording, generator
from sfumato.labs.verdict import StudentError
from sfumato.labs.wire import packed, unpacked

Array: TypeAlias = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Table:
    """An argument that stands for a data file of the lab: the function gets it as a pandas frame."""

    key: str = "main"


class Answers(Protocol):
    """A student's functions, wherever they run. What goes wrong in them is a `StudentError`."""

    def call(self, function: str, *arguments: object, seed: int | None = None) -> Any:
        """The result of one call; with a seed, a generator is passed last."""
        ...

    def draw(self, function: str, *arguments: object, n: int, seed: int) -> Array:
        """The results of n calls with one generator, stacked."""
        ...

    def record(self, function: str, *arguments: object, seed: int) -> list[tuple[str, float, float]]:
        """What one call asked of its generator: (method, location, scale). A hint, never a reason to fail."""
        ...


def stacked(results: list[Any]) -> Array:
    """Results of equal shape as one array of numbers, truth values or texts."""
    if any(result is None for result in results):
        raise StudentError("returned_nothing")
    try:
        array = np.asarray(results)
    except ValueError as error:  # of different lengths
        raise StudentError("wrong_shape", {"got": "?", "expected": "?"}) from error
    if array.dtype.kind not in "biufU":
        raise StudentError("wrong_type", {"got": type(results[0]).__name__, "expected": "float"})
    return array


@dataclass(frozen=True)
class InNotebook:
    """The functions of the notebook that is running. Arguments and results pass as in the box of the grader."""

    functions: Mapping[str, Any]
    table: Callable[[str], Any]

    def _arguments(self, arguments: tuple[object, ...]) -> list[Any]:
        return [self.table(one.key) if isinstance(one, Table) else unpacked(packed(one)) for one in arguments]

    def _run(self, function: str, arguments: list[Any]) -> Any:
        theirs = self.functions.get(function)
        if not callable(theirs):
            raise StudentError("missing", {"function": function})
        try:
            return theirs(*arguments)
        except NotImplementedError as error:
            raise StudentError("not_yet", {"function": function}) from error
        except MemoryError as error:
            raise StudentError("memory") from error
        except Exception as error:  # whatever a student's code raises is told to the student
            raise StudentError("raised", {"error": f"{type(error).__name__}: {error}"[:300]}) from error

    def call(self, function: str, *arguments: object, seed: int | None = None) -> Any:
        last = [] if seed is None else [generator(seed)]
        return unpacked(packed(self._run(function, self._arguments(arguments) + last)))

    def draw(self, function: str, *arguments: object, n: int, seed: int) -> Array:
        ready = [*self._arguments(arguments), generator(seed)]
        return stacked([unpacked(packed(self._run(function, ready))) for _ in range(n)])

    def record(self, function: str, *arguments: object, seed: int) -> list[tuple[str, float, float]]:
        listening = Recording(seed)
        self._run(function, [*self._arguments(arguments), listening])
        return listening.asked
