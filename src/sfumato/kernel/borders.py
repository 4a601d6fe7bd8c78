"""Comparisons of a uniform real with a transcendental number, decided exactly.

A uniform U in [0, 1) is known by its first bits. When these do not decide, more bits are drawn and the arithmetic is
repeated with more digits, until both ends of the interval that holds U agree. `decimal` rounds exp, ln, +, -, ×, ÷
correctly, so a handful of operations at precision p errs by less than 10^(3-p) of the size of the operands.
"""

from collections.abc import Callable
from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction

from sfumato.kernel.entropy import Entropy

Curve = Callable[[Decimal], Decimal]

MORE_BITS = 64


def below_exp(gamma: Fraction, prefix: int, bits: int, entropy: Entropy) -> bool:
    """Whether U < exp(-gamma), where U starts with the `bits` bits of `prefix`.

    Claim: over U uniform given its prefix, the answer has exactly the conditional law.
    Needs: gamma >= 0.
    """
    if gamma == 0:
        return True
    while True:
        with localcontext(_context(bits)) as context:
            target = (-_decimal(gamma)).exp() * 2**bits
            # At most one unit in the last digit for gamma, exp and the product; gamma enters exp multiplied by itself.
            margin = target * (1 + _decimal(gamma)) * Decimal(10) ** (3 - context.prec)
            if prefix + 1 <= target - margin:
                return True
            if prefix >= target + margin:
                return False
        prefix, bits = (prefix << MORE_BITS) | entropy.below(1 << MORE_BITS), bits + MORE_BITS


def geometric_cell(
    scale: Fraction, prefix: int, bits: int, entropy: Entropy, *, two_sided: bool = False, base: int | None = None
) -> int:
    """floor(-scale · ln(α + β U)), where U starts with the `bits` bits of `prefix`.

    (α, β) = (0, 1) gives a geometric variable, (0, (1+q)/2) the magnitude of a discrete Laplace variable (`two_sided`),
    (q^base, 1 - q^base) the lowest digit of a geometric variable in that base, with q = exp(-1/scale).
    Proof: docs/proofs/certified-inversion.md
    """
    while True:
        if prefix:
            with localcontext(_context(bits + scale.numerator.bit_length())) as context:
                t = _decimal(scale)
                alpha, beta = Decimal(0), Decimal(1)
                if two_sided:
                    beta = (1 + (-1 / t).exp()) / 2
                if base is not None:
                    alpha = (-base / t).exp()
                    beta = 1 - alpha
                unit = Decimal(2) ** -bits
                top = -t * (alpha + beta * prefix * unit).ln()
                bottom = -t * (alpha + beta * (prefix + 1) * unit).ln()
                margin = (t + abs(top)) * Decimal(10) ** (3 - context.prec)
                low, high = _floor(bottom - margin), _floor(top + margin)
            if base is not None:
                high = min(high, base - 1)
            if max(low, 0) == max(high, 0):
                return max(high, 0)
        prefix, bits = (prefix << MORE_BITS) | entropy.below(1 << MORE_BITS), bits + MORE_BITS


def _context(bits: int) -> Context:
    return Context(prec=40 + bits * 302 // 1000, Emax=10**17, Emin=-(10**17), traps=[])


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _floor(value: Decimal) -> int:
    return int(value.to_integral_value(rounding=ROUND_FLOOR))
