"""Lying clients: how far they can move an estimate at most, and an attack that moves it so far."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.kernel.entropy import Entropy, SystemEntropy
from sfumato.local import packed
from sfumato.local.frequency import Frequency
from sfumato.local.hashing import Hashing
from sfumato.local.oracle import Columns
from sfumato.local.protocol import Protocol, Reports
from sfumato.local.response import Response
from sfumato.local.subset import Subset
from sfumato.local.unary import Unary
from sfumato.local.wordings import liars_wrong, protocol_unknown
from sfumato.noise.coins import below

ATTACKED = ("rr", "grr", "sue", "oue", "olh", "hadamard", "subset")


@dataclass(frozen=True, slots=True)
class Poisoning:
    """What `liars` among the reports can do to the unbiased count of any one value.

    `most` is what they can add, `least` what they can take away, compared with staying at home; an honest holder of the
    value adds 1 on average.
    """

    liars: int
    most: float
    least: float
    honest_deviation: float


def poisoning(protocol: Protocol, *, liars: int, users: int) -> Poisoning:
    """The bound: each report adds between -stray/(keep - stray) and (1 - stray)/(keep - stray) to a count.

    Proof: docs/proofs/local-poisoning.md
    """
    oracle = _attacked(protocol).oracle
    if isinstance(liars, bool) or not isinstance(liars, int) or not 0 <= liars <= users:
        raise liars_wrong(str(liars))
    gap = oracle.keep - oracle.stray
    deviation = float(np.sqrt(users * oracle.stray * (1 - oracle.stray)) / gap)
    return Poisoning(liars, liars * (1 - oracle.stray) / gap, -liars * oracle.stray / gap, deviation)


def poison(protocol: Protocol, target: Any, *, liars: int, entropy: Entropy | None = None) -> Reports:
    """The reports of liars who want one value to look frequent. Each of them could be an honest report."""
    scheme = _attacked(protocol)
    (code,) = scheme.domain.codes([target])
    if liars < 1:
        raise liars_wrong(str(liars))
    lies = _lies(scheme, int(code), liars, SystemEntropy() if entropy is None else entropy)
    return Reports(scheme, protocol.fingerprint, lies)


def _lies(scheme: Frequency, code: int, count: int, entropy: Entropy) -> Columns:
    oracle, codes = scheme.oracle, np.full(count, code, dtype=np.int64)
    match oracle:
        case Response():
            return (codes,)
        case Hashing():
            seeds = below(oracle.seeds, count, entropy)
            return seeds, oracle.cells_of(seeds, codes)
        case Unary():
            (rows,) = oracle.draw(codes, entropy)
            packed.put(rows, codes, np.ones(count, dtype=np.bool_))
            return (rows,)
        case Subset():
            return (oracle.rows_with(codes, np.ones(count, dtype=np.bool_), entropy),)
        case _:
            raise protocol_unknown(scheme.name, ATTACKED)


def _attacked(protocol: Protocol) -> Frequency:
    if not isinstance(protocol.scheme, Frequency):
        raise protocol_unknown(protocol.name, ATTACKED)
    return protocol.scheme
