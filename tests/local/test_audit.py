"""What draws prove about the ε of every local protocol, and that nine tenths of the noise are convicted."""

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from tests.statistics.evidence import ERROR, epsilon_shown, source

F = Fraction
DRAWS = 100_000


def frequency(name: str, epsilon: Fraction) -> Any:
    return sf.local.protocol(name, domain=range(3), epsilon=epsilon)


PROTOCOLS: dict[str, Any] = {
    **{name: lambda e, n=name: frequency(n, e) for name in ("grr", "sue", "oue", "olh", "hadamard", "subset")},
    "rr": lambda e: sf.local.protocol("rr", domain=range(2), epsilon=e),
    "duchi": lambda e: sf.local.mean("duchi", lower=0, upper=1, epsilon=e),
    "piecewise": lambda e: sf.local.mean("piecewise", lower=0, upper=1, epsilon=e),
    "hybrid": lambda e: sf.local.mean("hybrid", lower=0, upper=1, epsilon=e),
    "laplace": lambda e: sf.local.mean("laplace", lower=0, upper=1, epsilon=e),
}


def outcomes(name: str, protocol: Any, value: int, side: str) -> list[Any]:
    """Reports, coarse enough to be counted; the value of a number is an end of its range."""
    drawn = protocol.randomise(np.full(DRAWS, value), entropy=source(f"{name} {side} {value}"))
    if name in ("piecewise", "hybrid"):
        kind = drawn.columns[0] if name == "hybrid" else np.ones(DRAWS, dtype=np.int64)
        window = round((1 << 20) / (np.exp(protocol.epsilon / 2) + 1))
        cells = drawn.columns[-1]
        high = np.where(kind == 1, (cells >= (1 << 20) - window) * 2 + (cells < window), cells)
        return list(zip(kind.tolist(), high.tolist(), strict=True))
    if name in ("olh", "hadamard"):
        oracle, codes = protocol.scheme.oracle, np.arange(2)
        seeds, cells = drawn.columns
        supported = [oracle.cells_of(seeds, np.full(DRAWS, code)) == cells for code in codes]
        return list(zip(*(one.tolist() for one in supported), strict=True))
    if name == "laplace":
        return [int(report) for report in np.clip(drawn.columns[0] >> 20, -1, 1)]
    return [str(payload) for payload in protocol.scheme.payloads(drawn.columns)]


def shown(name: str, protocol: Any) -> float:
    first, second = (Counter(outcomes(name, protocol, value, "audit")) for value in (0, 1))
    events = sorted(set(first) | set(second), key=str)
    error = ERROR / (2 * len(events))
    pairs = [(first[one], second[one]) for one in events] + [(second[one], first[one]) for one in events]
    return max(epsilon_shown(a, b, DRAWS, error) for a, b in pairs)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_audit(name: str) -> None:
    epsilon = F(2)
    found = shown(name, PROTOCOLS[name](epsilon))
    assert found <= epsilon
    assert found > 0.75 * epsilon, "the audit must come near"
    if name in ("rr", "grr", "olh", "hadamard", "subset", "duchi", "piecewise"):
        assert shown(name, PROTOCOLS[name](epsilon * F(10, 9))) > epsilon, "nine tenths of the noise"
