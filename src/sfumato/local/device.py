"""A person's own device: it remembers what it reported, and refuses when its budget is used up."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, NoReturn, SupportsIndex

import numpy as np

from sfumato.kernel.entropy import Entropy, SystemEntropy
from sfumato.local.protocol import Protocol
from sfumato.local.rappor import Rappor
from sfumato.local.wordings import (
    device_copied,
    device_differs,
    device_fresh_needs_budget,
    device_of_another_process,
    device_spent,
    device_unreadable,
    protocol_unknown,
)
from sfumato.schema.numbers import GivenNumber, exact_positive, shown

REPEATS = ("memo", "fresh")


class Device:
    """Reports of one person over time.

    repeat="memo": a value reported before is reported again word for word (RAPPOR: from its permanent response), which
    costs nothing more; a new value costs epsilon. repeat="fresh": every report is drawn anew and costs epsilon.

    Claim: whatever is sent, the values are protected by at most the budget. With "memo" this speaks of two histories
    with the same pattern: *that* a value changed or came back may be seen, what it was is protected.
    This holds for all threads together, and with a file for all processes. Without one, a forked child would have a
    budget of its own: there the device refuses, as it refuses to be copied or pickled.
    Needs: the file, if there is one, is kept; charges are on disk before a report leaves.
    Proof: docs/proofs/local-device.md
    """

    def __init__(
        self,
        protocol: Protocol,
        *,
        budget: GivenNumber | None = None,
        repeat: str = "memo",
        path: str | Path | None = None,
        entropy: Entropy | None = None,
    ) -> None:
        if repeat not in REPEATS:
            raise protocol_unknown(repeat, REPEATS)
        if budget is None and repeat == "fresh":
            raise device_fresh_needs_budget()
        self._client, self._scheme, self._repeat = protocol.client(), protocol.scheme, repeat
        # ln 3 is no fraction: the double above it is charged.
        self._cost = getattr(protocol.scheme, "price", None) or Fraction(protocol.epsilon)
        self._limit = self._cost if budget is None else exact_positive(budget, "budget")
        # One file, whatever it is called from where: a second name would be a second budget.
        self._path = None if path is None else Path(os.path.realpath(path))
        self._process, self._one_at_a_time = os.getpid(), Lock()
        self._entropy = SystemEntropy() if entropy is None else entropy
        self._state: dict[str, Any] = {
            "protocol": self._client.fingerprint,
            "repeat": repeat,
            "limit": str(self._limit),
            "spent": "0",
            "kept": {},
        }
        with self._held():
            pass

    @property
    def spent(self) -> float:
        return float(Fraction(self._state["spent"]))

    @property
    def left(self) -> float:
        return float(self._limit - Fraction(self._state["spent"]))

    def report(self, value: Any) -> dict[str, Any]:
        """A report to send, in JSON; or BudgetExceeded."""
        values = {name: [one] for name, one in value.items()} if isinstance(value, dict) else [value]
        encoded = self._scheme.encode(values)
        key = json.dumps(
            np.concatenate([np.ravel(one) for one in encoded]).tolist()
            if isinstance(encoded, list)
            else np.ravel(encoded).tolist()
        )
        with self._held():
            kept = self._state["kept"]
            if self._repeat == "fresh" or key not in kept:
                fresh = self._drawn(encoded)
                self._charge()
                kept[key] = fresh
                self._store()
            return {"protocol": self._client.fingerprint, "report": self._shown(kept[key])}

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        """A copy would have the whole budget once more."""
        raise device_copied()

    def _drawn(self, encoded: Any) -> Any:
        """What is kept: the report, or RAPPOR's permanent response."""
        scheme = self._scheme
        columns = (
            scheme.permanent(encoded, self._entropy)
            if isinstance(scheme, Rappor)
            else scheme.draw(encoded, self._entropy)
        )
        return scheme.payloads(columns)[0]

    def _shown(self, kept: Any) -> Any:
        scheme = self._scheme
        if not isinstance(scheme, Rappor):
            return kept
        return scheme.payloads(scheme.instantaneous(scheme.columns([kept], 1), self._entropy))[0]

    def _charge(self) -> None:
        spent = Fraction(self._state["spent"]) + self._cost
        if spent > self._limit:
            left = self._limit - Fraction(self._state["spent"])
            raise device_spent(shown(self._cost), shown(left), shown(self._limit))
        self._state["spent"] = str(spent)

    @contextmanager
    def _held(self) -> Iterator[None]:
        """The state as it is on disk, for this thread alone until it is stored."""
        if self._process != os.getpid():
            if self._path is None:
                raise device_of_another_process()
            # The lock may have been held at the fork, by a thread that the child does not have.
            self._process, self._one_at_a_time = os.getpid(), Lock()
        with self._one_at_a_time:
            if self._path is None:
                yield
                return
            with _locked(self._path):
                if self._path.exists():
                    self._load()
                else:
                    self._store()
                yield

    def _load(self) -> None:
        try:
            found = json.loads(self._path.read_text(encoding="utf-8")) if self._path else {}
        except (OSError, ValueError) as error:
            raise device_unreadable(type(error).__name__) from None
        if not isinstance(found, dict) or found.keys() != self._state.keys():
            raise device_unreadable("it has another shape")
        if any(found[key] != self._state[key] for key in ("protocol", "repeat", "limit")):
            raise device_differs()
        self._state = found

    def _store(self) -> None:
        """Durable before anything is sent: a crash may lose budget, never privacy."""
        if self._path is None:
            return
        fresh = self._path.with_name(self._path.name + ".new")
        try:
            with open(fresh, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
                json.dump(self._state, file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(fresh, self._path)
            if os.name == "posix":
                folder = os.open(self._path.parent, os.O_RDONLY)
                try:
                    os.fsync(folder)
                finally:
                    os.close(folder)
        except OSError as error:
            raise device_unreadable(f"it cannot be written, {str(error.strerror).lower()}") from None


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """While no other process holds the file of a device."""
    try:
        handle = os.open(path.with_name(path.name + ".lock"), os.O_CREAT | os.O_RDWR, 0o600)
    except OSError as error:
        raise device_unreadable(str(error.strerror).lower()) from None
    fcntl = import_module("fcntl") if os.name == "posix" else None
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        # A child forked meanwhile has the handle too: the lock would last as long as the child.
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_UN)
        os.close(handle)
