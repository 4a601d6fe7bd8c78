"""Several engines on one table: a quick question does not wait behind a slow one.

Each is an engine by itself, with a connection, settings, limits, a watchdog and a state of its own; nothing is shared
but the files. Which of them a question gets is decided here, and nothing else: the door takes that engine's own slot.
"""

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Condition, RLock, get_ident

from sfumato.engines.protocol import Engine
from sfumato.engines.sql.dialect import Dialect
from sfumato.engines.wordings import changed_while_opened


@dataclass(frozen=True, slots=True, eq=False)
class _Turn:
    """Whose an engine is for now, and what is asked there."""

    thread: int
    asked: Hashable


class Lanes:
    """As many questions at a time as there are engines; whoever comes later waits for the first that is free.

    Who asks what is being asked already goes to the same engine, and waits for its slot: what was kept is found then.
    Needs: engines of one kind, all opened on the same table. Closing it closes them.
    """

    def __init__(self, engines: Sequence[Engine]) -> None:
        self._engines = tuple(engines)
        self._lock = RLock()  # itself: its `with` is no Python, in which a Ctrl-C could leave it taken for ever
        self._changed = Condition(self._lock)
        self._turns: dict[_Turn, int] = {}
        if len({engine.state() for engine in engines}) > 1:
            raise changed_while_opened()

    @property
    def dialect(self) -> Dialect:
        return self._engines[0].dialect

    def version(self) -> str:
        """As the first engine finds it. The door asks the engine of the question again, before anything is paid."""
        return self._engines[0].version()

    @contextmanager
    def lane(self, asked: Hashable) -> Iterator[Engine]:
        """An engine that nobody else has got here, but those who ask the same, for as long as it lasts."""
        turn = _Turn(get_ident(), asked)
        try:
            yield self._engines[self._take(turn)]
        finally:
            with self._lock:
                self._turns = {other: place for other, place in self._turns.items() if other is not turn}
                self._changed.notify_all()

    def one(self) -> Engine:
        """Always the same one, for whoever keeps something in it. Questions prefer others."""
        return self._engines[-1]

    def _take(self, turn: _Turn) -> int:
        with self._lock:
            self._give_up(turn.thread)
            self._changed.wait_for(lambda: self._places(turn.asked))
            place = self._places(turn.asked)[0]
            self._turns[turn] = place
            return place

    def _give_up(self, thread: int) -> None:
        """A thread does one thing at a time: what it still has was left by a Ctrl-C. If not, its slot is refused."""
        for turn, place in tuple(self._turns.items()):
            if turn.thread == thread:
                self._engines[place].slot()
        self._turns = {turn: place for turn, place in self._turns.items() if turn.thread != thread}

    def _places(self, asked: Hashable) -> list[int]:
        """Where the same is being asked; else those that are free."""
        alike = [place for turn, place in self._turns.items() if turn.asked == asked]
        return alike or [place for place in range(len(self._engines)) if place not in self._turns.values()]

    def close(self) -> None:
        for engine in self._engines:
            engine.close()
