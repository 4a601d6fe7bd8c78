"""The state of a device in a file, which is its own lock.

A lock beside it could be removed while somebody holds it, and would have a name that another device may bear. Instead
the file itself is locked; whoever stores a state lays a new file in its place, which is locked before it has the name.
"""

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from io import FileIO
from pathlib import Path
from stat import S_ISREG

from sfumato.devices.disk import Folder, force_names, laid, locked, opened
from sfumato.devices.process import Process, this_process
from sfumato.devices.state import Held, Rules, State
from sfumato.devices.wordings import (
    device_forked_meanwhile,
    state_gone,
    state_linked,
    state_replaced,
    state_unusable,
    state_unwritable,
    state_went_back,
)
from sfumato.errors import SfumatoError
from sfumato.ledger.blocks import block


class InFile:
    """Claim: all threads and processes share one state. It never says less than this object has seen in it, and what
    was stored is on disk before anything else happens.

    Needs: the file is kept, on a local disk.
    Proof: docs/proofs/device-file.md
    """

    def __init__(self, path: str | Path, rules: Rules) -> None:
        # One file, whatever it is called from where: a second name would be a second budget.
        self.path = Path(os.path.realpath(path))
        self.known = rules.first()
        self._rules = rules
        self._seen: bytes | None = None

    @block
    def held(self) -> Iterator[Held]:
        with ExitStack() as locks:
            process, handle = this_process(), self._named(locks)
            state = self.known = self._read(handle)
            yield Held(state, lambda: self._keep(state, locks, handle, process))

    def _named(self, locks: ExitStack) -> int:
        """Claim: locked, and the file that has the name while it is locked."""
        try:
            while True:
                with ExitStack() as tried:
                    handle = tried.enter_context(locked(self._opened()))
                    if self._is_it(handle):
                        locks.push(tried.pop_all())
                        return handle
        except OSError as error:
            raise state_unusable(str(self.path), _reason(error)) from None

    def _opened(self) -> FileIO:
        while True:
            try:
                return opened(self.path, os.O_RDWR | os.O_NOFOLLOW)
            except FileNotFoundError:
                if self._seen is not None:
                    raise state_gone(str(self.path)) from None
            self._begin()

    def _begin(self) -> None:
        """The first state, unless somebody else is faster: whole from the start, as an empty file is a damaged one."""
        try:
            with locked(Folder(self.path.parent)):
                if not os.path.lexists(self.path):
                    with laid(self.path, _text(self._rules.first())):
                        pass
        except OSError as error:
            raise state_unwritable(str(self.path), _reason(error)) from None

    def _is_it(self, handle: int) -> bool:
        try:
            return os.path.samestat(os.fstat(handle), os.lstat(self.path))
        except FileNotFoundError:
            return False

    def _read(self, handle: int) -> State:
        found = os.fstat(handle)
        if not S_ISREG(found.st_mode):
            raise state_unusable(str(self.path), "it is no ordinary file")
        if found.st_nlink > 1:
            raise state_linked(str(self.path))
        try:
            with open(handle, "rb", closefd=False) as file:
                text = file.read()
        except OSError as error:
            raise state_unusable(str(self.path), _reason(error)) from None
        state = self._parsed(text)
        if self._seen not in (None, text):
            seen = json.loads(self._seen or b"")
            if state != seen and not self._rules.follows(state, seen):
                raise state_went_back(str(self.path))
        if self._seen != text:
            self._make_last()
        self._seen = text
        return state

    def _make_last(self) -> None:
        """Whoever laid this state may have failed before it was sure to last, and what it says is repeated now."""
        try:
            force_names(self.path.parent)
        except OSError as error:
            raise state_unwritable(str(self.path), _reason(error)) from None

    def _parsed(self, text: bytes) -> State:
        try:
            found: State = json.loads(text)
        except (ValueError, RecursionError):
            raise state_unusable(str(self.path), "it is not JSON") from None
        try:
            self._rules.check(found)
        except SfumatoError:
            raise
        except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError):
            raise state_unusable(str(self.path), "it has another shape") from None
        return found

    def _keep(self, state: State, locks: ExitStack, handle: int, process: Process) -> None:
        """Durable before anything is sent: a crash may lose budget, never privacy."""
        if process != this_process():  # it has the lock of its parent, which stores a state of its own
            raise device_forked_meanwhile()
        text = _text(state)
        try:
            if not self._is_it(handle):
                raise state_replaced(str(self.path))
            if os.fstat(handle).st_nlink > 1:
                raise state_linked(str(self.path))
            locks.enter_context(laid(self.path, text))
        except OSError as error:
            raise state_unwritable(str(self.path), _reason(error)) from None
        self._seen = text


def _text(state: State) -> bytes:
    return json.dumps(state).encode()


def _reason(error: OSError) -> str:
    return (error.strerror or "it failed").lower()
