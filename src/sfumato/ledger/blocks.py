"""Blocks (`with`) that an interruption does not leave half entered."""

from collections.abc import Callable, Iterator
from contextlib import _GeneratorContextManager, contextmanager
from functools import wraps
from types import TracebackType
from typing import Generic, ParamSpec, TypeVar

Given = TypeVar("Given")
Needed = ParamSpec("Needed")


class Block(Generic[Given]):
    """As contextlib makes them. Claim: a Ctrl-C that comes when all is held and the block has not begun gives all up.

    Else a transaction stays open for as long as somebody keeps the error, as a notebook does.
    """

    def __init__(self, made: _GeneratorContextManager[Given]) -> None:
        self._made = made

    def __enter__(self) -> Given:
        try:
            return self._made.__enter__()
        except BaseException:
            self._made.gen.close()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return self._made.__exit__(kind, error, trace)


def block(steps: Callable[Needed, Iterator[Given]]) -> Callable[Needed, Block[Given]]:
    made = contextmanager(steps)

    @wraps(steps)
    def entered(*given: Needed.args, **named: Needed.kwargs) -> Block[Given]:
        return Block(made(*given, **named))

    return entered
