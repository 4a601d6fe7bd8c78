"""Trying a protocol out on made-up people: what error it has, what error it should have, what liars do to it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.kernel.entropy import Entropy
from sfumato.local.frequency import Frequency
from sfumato.local.poison import poison, poisoning
from sfumato.local.protocol import Protocol
from sfumato.local.wordings import liars_wrong, protocol_unknown


@dataclass(frozen=True, slots=True)
class Trial:
    """Root mean square errors of a count over rounds and values, and the share of error bars that hold the truth."""

    protocol: str
    users: int
    rounds: int
    error: float
    expected: float
    consistent: float
    covered: float
    shift: float | None
    shift_bound: float | None

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


def zipf_counts(values: int, users: int) -> list[int]:
    """How many of the users hold each value when the i-th is i times rarer than the first."""
    shares = 1 / np.arange(1, values + 1)
    edges = np.rint(np.cumsum(shares) / shares.sum() * users).astype(np.int64)
    return [int(count) for count in np.diff(edges, prepend=0)]


def trial(
    protocol: Protocol, counts: list[int], *, rounds: int = 20, liars: int = 0, entropy: Entropy | None = None
) -> Trial:
    """Run the protocol on people who hold the values so often. Liars push the last value, and come on top."""
    scheme = protocol.scheme
    if not isinstance(scheme, Frequency):
        raise protocol_unknown(protocol.name, ("rr", "grr", "sue", "oue", "olh", "hadamard", "subset"))
    if liars < 0:
        raise liars_wrong(str(liars))
    oracle, truth = scheme.oracle, np.array(counts, dtype=np.int64)
    people, users = np.repeat(np.arange(len(truth)), truth), int(truth.sum())
    raw, sensible, covered, moved = [], [], [], []
    for _ in range(rounds):
        server = protocol.server().add(
            protocol.randomise([scheme.domain.values[code] for code in people.tolist()], entropy=entropy)
        )
        honest = server.estimate()
        low, high = honest.intervals()
        raw.append(np.mean((honest.unbiased - truth) ** 2))
        sensible.append(np.mean((honest.counts - truth) ** 2))
        covered.append(np.mean((low <= truth) & (truth <= high)))
        if liars:
            target = scheme.domain.values[-1]
            server.add(poison(protocol, target, liars=liars, entropy=entropy))
            moved.append(server.estimate().unbiased[-1] - honest.unbiased[-1])
    keep, stray = oracle.keep, oracle.stray
    spread = truth * keep * (1 - keep) + (users - truth) * stray * (1 - stray)
    return Trial(
        protocol.name,
        users,
        rounds,
        float(np.sqrt(np.mean(raw))),
        float(np.sqrt(np.mean(spread)) / (keep - stray)),
        float(np.sqrt(np.mean(sensible))),
        float(np.mean(covered)),
        float(np.mean(moved)) if liars else None,
        poisoning(protocol, liars=liars, users=users + liars).most if liars else None,
    )
