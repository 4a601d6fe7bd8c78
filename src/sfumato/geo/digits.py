"""Sine, cosine and π to as many decimal digits as the current context asks for."""

from decimal import Decimal, getcontext


def pi() -> Decimal:
    """Machin: π/4 = 4 arctan(1/5) - arctan(1/239). Claim: within 10^(3-p) at precision p."""
    digits = getcontext().prec + 10
    one = 10**digits

    def arctangent(inverse: int) -> int:
        term: int = one // inverse
        total = term
        n, square = 1, inverse * inverse
        while term:
            term //= -square
            n += 2
            total += term // n
            if abs(term) < n:
                break
        return total

    return Decimal(4 * (4 * arctangent(5) - arctangent(239))) / Decimal(one)


def sine_cosine(x: Decimal) -> tuple[Decimal, Decimal]:
    """Claim: each within 10^(4-p) at precision p. Needs: |x| <= 8.

    Halved until the series is short, then doubled again: sin 2y = 2 sin y cos y, and 1 - cos 2y = 2 sin² y.
    """
    context = getcontext()
    context.prec += 12
    try:
        halvings = 12
        small = x / 2**halvings
        square, term, sine, n = small * small, small, small, 1
        least = Decimal(10) ** (-context.prec - 8)
        while abs(term) > least:
            term = -term * square / ((n + 1) * (n + 2))
            sine += term
            n += 2
        versed = 1 - (1 - sine * sine).sqrt()  # |small| < π/2: the cosine is positive
        for _ in range(halvings):
            sine, versed = 2 * sine * (1 - versed), 2 * sine * sine
        cosine = 1 - versed
    finally:
        context.prec -= 12
    return +sine, +cosine
