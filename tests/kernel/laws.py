"""The laws the samplers claim, computed another way: integers with directed rounding, or many decimal digits."""

import inspect
import types
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from sfumato.audit.evidence import chi_square as chi_square

BASE = 1 << 24
PRECISE = Context(prec=60, Emax=10**15, Emin=-(10**15), traps=[])


def decimal(value: Fraction | int) -> Decimal:
    value = Fraction(value)
    return Decimal(value.numerator) / Decimal(value.denominator)


@lru_cache(maxsize=100_000)
def exp_minus(gamma: Fraction | int) -> Decimal:
    with localcontext(PRECISE):
        return (-decimal(gamma)).exp()


def geometric_law(scale: Fraction, k: int) -> Decimal:
    """P(K = k) = (1 - q) q^k, q = exp(-1/scale)."""
    with localcontext(PRECISE):
        return (1 - exp_minus(1 / scale)) * exp_minus(k / scale) if k >= 0 else Decimal(0)


def laplace_law(scale: Fraction, k: int) -> Decimal:
    """P(X = k) = (1 - q)/(1 + q) q^|k|."""
    with localcontext(PRECISE):
        q = exp_minus(1 / scale)
        return (1 - q) / (1 + q) * exp_minus(abs(k) / scale)


def laplace_tail(scale: Fraction, k: int) -> Decimal:
    """P(X >= k)."""
    with localcontext(PRECISE):
        if k <= 0:
            return 1 - laplace_tail(scale, 1 - k)
        return exp_minus(k / scale) / (1 + exp_minus(1 / scale))


def gaussian_weight(variance: Fraction, k: int) -> Decimal:
    return exp_minus(k * k / (2 * variance))


def gaussian_total(variance: Fraction) -> Decimal:
    """The sum of all weights, to 50 digits."""
    with localcontext(PRECISE):
        total, k = Decimal(1), 1
        while (weight := gaussian_weight(variance, k)) > Decimal(10) ** -55:
            total += 2 * weight
            k += 1
        return total


def gaussian_law(variance: Fraction, k: int) -> Decimal:
    with localcontext(PRECISE):
        return gaussian_weight(variance, k) / gaussian_total(variance)


def bounds_of_exp_minus(x: Fraction, bits: int) -> tuple[int, int]:
    """Integers low <= exp(-x) · 2^bits <= high, a few units apart. Needs: x >= 0.

    The alternating series of exp(-x / 2^m) for x / 2^m <= 1/2, then m squarings, every step rounded outward.
    """
    if x > 2 * bits:
        return 0, 1  # exp(-x) < 2^-x
    halvings = max(0, x.numerator.bit_length() - x.denominator.bit_length() + 2)
    work = bits + 2 * halvings + 32
    one = 1 << work
    small = x / 2**halvings
    low_x = (small.numerator << work) // small.denominator
    low, high = _series(low_x + 1, work)[0], _series(low_x, work)[1]
    for _ in range(halvings):
        low, high = low * low >> work, (high * high >> work) + 1
    assert 0 <= low <= high <= one + work
    shift = work - bits
    return low >> shift, (high >> shift) + 1


def _series(x: int, work: int) -> tuple[int, int]:
    """Bounds of exp(-x / 2^work) · 2^work."""
    term_low = term_high = total_low = total_high = 1 << work
    n = 1
    while term_high > 1:
        term_low, term_high = (term_low * x >> work) // n, (term_high * x >> work) // n + 1
        if n % 2:
            total_low, total_high = total_low - term_high, total_high - term_low
        else:
            total_low, total_high = total_low + term_low, total_high + term_high
        n += 1
    return total_low - term_high, total_high + term_high


def boundary(scale: Fraction, k: int, bits: int, form: str) -> int:
    """floor(2^bits · U), U the border between the cells k - 1 and k of geometric_cell."""
    work = bits + 128 + scale.numerator.bit_length()
    power, _ = bounds_of_exp_minus(k / scale, work)
    if form == "two_sided":
        q, _ = bounds_of_exp_minus(1 / scale, work)
        return (2 * power << bits) // ((1 << work) + q)
    if form == "base":
        alpha, _ = bounds_of_exp_minus(BASE / scale, work)
        return (power - alpha << bits) // ((1 << work) - alpha)
    return power >> (work - bits)


def laplace_cells(draws: np.ndarray[Any, Any], scale: Fraction) -> tuple[list[int], list[float]]:
    """Counts and probabilities of the values -r..r one by one, with the tails at both ends; for a small scale."""
    reach = int(12 * scale) + 3
    clipped = np.clip(draws, -reach, reach).astype(np.int64)
    counts = np.bincount(clipped + reach, minlength=2 * reach + 1)
    law = [float(laplace_law(scale, k)) for k in range(-reach, reach + 1)]
    law[0] = law[-1] = float(laplace_tail(scale, reach))
    return counts.tolist(), law


def gaussian_cells(draws: np.ndarray[Any, Any], variance: Fraction) -> tuple[list[int], list[float]]:
    reach = int(6 * float(variance) ** 0.5) + 3
    clipped = np.clip(draws, -reach, reach).astype(np.int64)
    counts = np.bincount(clipped + reach, minlength=2 * reach + 1)
    total = gaussian_total(variance)
    law = [float(gaussian_weight(variance, k) / total) for k in range(-reach, reach + 1)]
    law[0] = law[-1] = (1 - sum(law[1:-1])) / 2
    return counts.tolist(), law


def laplace_bins(draws: np.ndarray[Any, Any], scale: Fraction, bins: int = 200) -> tuple[list[int], list[float]]:
    """Counts and probabilities of intervals of about equal mass; for a large scale."""
    with localcontext(PRECISE):
        half = [int(decimal(scale) * (Decimal(bins) / (2 * i)).ln()) for i in range(bins // 2, 0, -1)]
        edges = sorted({-edge for edge in half} | set(half))
        above = [laplace_tail(scale, edge) for edge in edges]
        law = [float(a - b) for a, b in zip([Decimal(1), *above], [*above, Decimal(0)], strict=True)]
    place = np.searchsorted(np.array(edges, dtype=draws.dtype), draws, side="right")
    return np.bincount(place.astype(np.int64), minlength=len(edges) + 1).tolist(), law


def mutant(module: types.ModuleType, old: str, new: str) -> Any:
    """The module with one line of its source changed: a broken twin that stays next to the original."""
    source = inspect.getsource(module)
    assert source.count(old) == 1, f"{old!r} occurs {source.count(old)} times in {module.__name__}"
    twin = types.ModuleType(f"{module.__name__}_twin")
    exec(compile(source.replace(old, new), f"<twin of {module.__name__}>", "exec"), twin.__dict__)  # noqa: S102
    return twin
