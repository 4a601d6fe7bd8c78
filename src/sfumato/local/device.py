"""A person's own device: it remembers what it reported, and refuses when its budget is used up."""

import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn, SupportsIndex

import numpy as np

from sfumato.devices.file import InFile
from sfumato.devices.state import InMemory, State, amount
from sfumato.kernel.entropy import Entropy, SystemEntropy
from sfumato.local.protocol import Protocol
from sfumato.local.rappor import Rappor
from sfumato.local.wordings import (
    device_copied,
    device_differs,
    device_fresh_needs_budget,
    device_spent,
    protocol_unknown,
)
from sfumato.schema.numbers import GivenNumber, exact_positive, shown

REPEATS = ("memo", "fresh")


@dataclass(frozen=True, slots=True)
class _Answers:
    """What is remembered: for which protocol and limit, what was spent, and a draw for each value by its code."""

    protocol: str
    repeat: str
    limit: str

    def first(self) -> State:
        return {"protocol": self.protocol, "repeat": self.repeat, "limit": self.limit, "spent": "0", "kept": {}}

    def check(self, found: Any) -> None:
        if found.keys() != self.first().keys() or not isinstance(found["kept"], dict):
            raise ValueError("another shape")
        if (found["protocol"], found["repeat"], found["limit"]) != (self.protocol, self.repeat, self.limit):
            raise device_differs()
        amount(found["spent"])

    def follows(self, found: State, seen: State) -> bool:
        kept = found["kept"].keys() >= seen["kept"].keys()
        if self.repeat == "memo":
            kept = found["kept"].items() >= seen["kept"].items()
        return kept and amount(found["spent"]) > amount(seen["spent"])


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
        self._entropy = SystemEntropy() if entropy is None else entropy
        answers = _Answers(self._client.fingerprint, repeat, str(self._limit))
        self._memory = InMemory(answers) if path is None else InFile(path, answers)
        with self._memory.held():
            pass

    @property
    def spent(self) -> float:
        return float(Fraction(self._memory.known["spent"]))

    @property
    def left(self) -> float:
        return float(self._limit - Fraction(self._memory.known["spent"]))

    def report(self, value: Any) -> dict[str, Any]:
        """A report to send, in JSON; or BudgetExceeded."""
        values = {name: [one] for name, one in value.items()} if isinstance(value, dict) else [value]
        encoded = self._scheme.encode(values)
        key = json.dumps(
            np.concatenate([np.ravel(one) for one in encoded]).tolist()
            if isinstance(encoded, list)
            else np.ravel(encoded).tolist()
        )
        with self._memory.held() as held:
            kept = held.state["kept"]
            if self._repeat == "fresh" or key not in kept:
                fresh = self._drawn(encoded)
                self._charge(held.state)
                kept[key] = fresh
                held.keep()
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

    def _charge(self, state: State) -> None:
        spent = Fraction(state["spent"]) + self._cost
        if spent > self._limit:
            left = self._limit - Fraction(state["spent"])
            raise device_spent(shown(self._cost), shown(left), shown(self._limit))
        state["spent"] = str(spent)
