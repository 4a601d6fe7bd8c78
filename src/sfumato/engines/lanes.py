"""Several engines on one table: a quick question does not wait behind a slow one.

Each is an engine by itself, with a connection, settings, limits, a watchdog and a state of its own; nothing is shared
but the files. Which of them a question gets is decided here, and nothing else: the door takes that engine's own slot.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Condition, get_ident

from sfumato.engines.protocol import Engine
from sfumato.engines.sql.dialect import Dialect
from sfumato.engines.wordings import changed_while_opened


@dataclass(frozen=True, slots=True, eq=False)
class _Turn:
    """Whose an engine is for now."""

    thread: int


class Lanes:
    """As many questions at a time as there are engines; whoever comes later waits for the first that is free.

    Needs: engines of one kind, all opened on the same table. Closing it closes them.
    """

    def __init__(self, engines: Sequence[Engine]) -> None:
        self._engines = tuple(engines)
        self._changed = Condition()
        self._taken: dict[int, _Turn] = {}
        if len({engine.version() for engine in engines}) > 1:
            raise changed_while_opened()

    @property
    def dialect(self) -> Dialect:
        return self._engines[0].dialect

    def version(self) -> str:
        """As the first engine finds it. The door asks the engine of the question again, before anything is paid."""
        return self._engines[0].version()

    @contextmanager
    def lane(self) -> Iterator[Engine]:
        """An engine that nobody else has got here, for as long as it lasts."""
        turn = _Turn(get_ident())
        try:
            yield self._engines[self._take(turn)]
        finally:
            with self._changed:
                self._taken = {place: other for place, other in self._taken.items() if other is not turn}
                self._changed.notify()

    def one(self) -> Engine:
        """Always the same one, for whoever keeps something in it. Questions prefer others."""
        return self._engines[-1]

    def _take(self, turn: _Turn) -> int:
        with self._changed:
            # A thread does one thing at a time: what it still has was left by a Ctrl-C.
            self._taken = {place: other for place, other in self._taken.items() if other.thread != turn.thread}
            self._changed.wait_for(lambda: len(self._taken) < len(self._engines))
            place = next(place for place in range(len(self._engines)) if place not in self._taken)
            self._taken[place] = turn
            return place

    def close(self) -> None:
        for engine in self._engines:
            engine.close()
