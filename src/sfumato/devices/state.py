"""The state of a device: what is asked of one, and one that is only in memory."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from threading import Lock
from typing import Any, Protocol

from sfumato.devices.process import this_process
from sfumato.devices.wordings import device_of_another_process
from sfumato.ledger.blocks import block

State = dict[str, Any]


class Rules(Protocol):
    """What a kind of device says of its own states. They are JSON, and each report that costs something adds to one."""

    def first(self) -> State:
        """What is remembered before anything was reported."""

    def check(self, found: Any) -> None:
        """Raises an error of the package where it is another device's, any other where it is no state at all."""

    def follows(self, found: State, seen: State) -> bool:
        """Whether reports, one or more, can have made this one out of that one."""


@dataclass(frozen=True, slots=True)
class Held:
    """A state that nobody else can change for now. To be changed, and kept, once at most, before anything is sent."""

    state: State
    keep: Callable[[], None]


class InMemory:
    """Claim: all threads of the process that made it share one state; every other process is refused."""

    def __init__(self, rules: Rules) -> None:
        self.known = rules.first()
        self._maker, self._one_at_a_time = this_process(), Lock()

    @block
    def held(self) -> Iterator[Held]:
        self._at_home()
        with self._one_at_a_time:
            # Asked again when it is stored: a child may have been forked in between.
            yield Held(self.known, self._at_home)

    def _at_home(self) -> None:
        if self._maker != this_process():
            raise device_of_another_process()


def amount(found: object) -> Fraction:
    """What was spent, as it is written in a state; or ValueError."""
    if not isinstance(found, str) or (spent := Fraction(found)) < 0:
        raise ValueError("no amount")
    return spent
