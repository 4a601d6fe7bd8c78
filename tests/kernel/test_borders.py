"""The lazy comparisons against bounds in whole numbers: no decimal, no logarithm, every step rounded outward."""

from decimal import localcontext
from fractions import Fraction
from random import Random

import pytest

from sfumato.kernel.borders import below_exp, geometric_cell
from tests.entropy import ScriptedEntropy
from tests.kernel.laws import BASE, PRECISE, boundary, bounds_of_exp_minus, exp_minus

FORMS = ["plain", "two_sided", "base"]
MORE = 64


class Recorder:
    """Serves choices of a seeded generator and keeps them."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self.served: list[int] = []

    def below(self, bound: int) -> int:
        assert bound == 1 << MORE
        self.served.append(self._random.randrange(bound))
        return self.served[-1]

    def words(self, count: int) -> None:
        raise AssertionError("a comparison extends bit by bit")


def cell(scale: Fraction, prefix: int, bits: int, entropy: object, form: str) -> int:
    return geometric_cell(
        scale,
        prefix,
        bits,
        entropy,  # type: ignore[arg-type]
        two_sided=form == "two_sided",
        base=BASE if form == "base" else None,
    )


def holds(scale: Fraction, prefix: int, bits: int, k: int, form: str) -> bool:
    """Whether q^(k+1) < α + β U <= q^k for every U from prefix/2^bits up to (prefix+1)/2^bits."""
    work = 2 * bits + 128 + scale.numerator.bit_length()
    one = 1 << work
    q_low, q_high = bounds_of_exp_minus(1 / scale, work)
    below, _ = bounds_of_exp_minus(k / scale, work)
    _, above = bounds_of_exp_minus((k + 1) / scale, work)
    low, high = prefix << (work - bits), (prefix + 1) << (work - bits)
    if form == "two_sided":
        # 2 q^(k+1) < (1 + q) U <= 2 q^k
        inside_low = 2 * above * one <= (one + q_low) * low
        inside_high = (one + q_high) * high <= 2 * below * one
    elif form == "base":
        alpha_low, alpha_high = bounds_of_exp_minus(BASE / scale, work)
        inside_low = above * one <= alpha_low * (one - low) + low * one
        inside_high = alpha_high * (one - high) + high * one <= below * one
        inside_low = inside_low or (k == BASE - 1)
    else:
        inside_low, inside_high = above <= low, high <= below
    return inside_low and (inside_high or k == 0)


def random_scale(random: Random, form: str) -> Fraction:
    if form == "base":
        return Fraction(2) ** random.randrange(29, 81) * Fraction(random.randrange(1000, 2000), 1000)
    kind = random.randrange(4)
    if kind == 0:
        return Fraction(random.randrange(1, 10**6), random.randrange(1, 10**6))
    if kind == 1:
        return Fraction(random.randrange(1, 10**6), 10 ** random.randrange(6, 36))
    if kind == 2:
        return Fraction(random.randrange(1, 10**6) << random.randrange(61), random.randrange(1, 10))
    return random.choice([Fraction(1, 10**30), Fraction(1 << 80), Fraction(1), Fraction((1 << 80) + 1, 3**30)])


def test_the_bounds_of_the_reference_hold() -> None:
    random = Random("reference")
    for _ in range(300):
        x, bits = Fraction(random.randrange(10**6), random.randrange(1, 10**5)), random.randrange(1, 150)
        low, high = bounds_of_exp_minus(x, bits)
        with localcontext(PRECISE):
            assert low <= exp_minus(x) * 2**bits <= high
        assert high - low <= 3


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_random_prefixes(form: str) -> None:
    random = Random(f"random prefixes {form}")
    for _ in range(2000):
        scale, bits = random_scale(random, form), random.choice([8, 63, 64])
        prefix = random.choice([random.randrange(1 << bits), random.randrange(1 << 8), (1 << bits) - 1])
        entropy = Recorder(random)
        k = cell(scale, prefix, bits, entropy, form)
        for more in entropy.served:
            prefix, bits = prefix << MORE | more, bits + MORE
        assert holds(scale, prefix, bits, k, form), (scale, prefix, bits, k)
        assert type(k) is int


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "scale", [Fraction(1, 3), Fraction(1), Fraction(1000, 7), Fraction(1 << 30), Fraction(1 << 80)]
)
def test_prefixes_that_do_not_decide(form: str, scale: Fraction) -> None:
    if form == "base" and scale < BASE:
        scale *= BASE
    random = Random(f"undecided {form} {scale}")
    for _ in range(20):
        # 63 bits of a border leave it open on which side U lies, and so do 127; the bits after these decide.
        k = random.randrange(1, BASE) if form == "base" else random.randrange(1, int(8 * scale) + 2)
        digits = boundary(scale, k, 63 + 2 * MORE, form)
        prefix, second, third = digits >> 2 * MORE, digits >> MORE & (1 << MORE) - 1, digits & (1 << MORE) - 1
        assert prefix > 0
        assert 2 < second < (1 << MORE) - 2, "pick another k"
        assert 2 < third < (1 << MORE) - 2, "pick another k"
        for choices, expected in [
            ([second - 1], k),
            ([second + 1], k - 1),
            ([second, third - 2], k),
            ([second, third + 2], k - 1),
        ]:
            entropy = ScriptedEntropy(choices=choices)
            assert cell(scale, prefix, 63, entropy, form) == expected
            assert entropy.unread == 0


@pytest.mark.parametrize("form", FORMS)
def test_prefix_zero_asks_for_more(form: str) -> None:
    scale = Fraction(1 << 40, 3)
    entropy = ScriptedEntropy(choices=[0, 0, 5 << 60])
    k = cell(scale, 0, 63, entropy, form)
    assert entropy.unread == 0
    assert holds(scale, 5 << 60, 63 + 3 * MORE, k, form)


def test_the_ends_of_the_unit_interval() -> None:
    nothing = ScriptedEntropy()
    assert cell(Fraction(5), (1 << 63) - 1, 63, nothing, "plain") == 0
    assert cell(Fraction(1 << 80), (1 << 63) - 1, 63, ScriptedEntropy(choices=[(1 << 64) - 1] * 2), "plain") == 0
    assert cell(Fraction(5), (1 << 63) - 1, 63, nothing, "two_sided") == 0
    assert cell(Fraction(1 << 60), (1 << 63) - 1, 63, nothing, "base") == 0
    assert cell(Fraction(1 << 60), 1, 63, nothing, "base") == BASE - 1
    assert cell(Fraction(1, 10**30), 1, 63, nothing, "plain") == 0
    assert cell(Fraction(1, 10**30), 1, 63, nothing, "two_sided") == 0


GAMMAS = [Fraction(1, 10**30), Fraction(1, 3), Fraction(1), Fraction(22, 7), Fraction(40), Fraction(10**12 + 1, 10**12)]


@pytest.mark.parametrize("gamma", GAMMAS)
def test_below_exp_at_its_border(gamma: Fraction) -> None:
    low, high = bounds_of_exp_minus(gamma, 64 + 2 * MORE + 64)
    digits = low >> 64
    assert digits == high >> 64
    prefix, second, third = digits >> 2 * MORE, digits >> MORE & (1 << MORE) - 1, digits & (1 << MORE) - 1
    if prefix:
        assert below_exp(gamma, prefix - 1, 64, ScriptedEntropy())
    if prefix + 1 < 1 << 64:
        assert not below_exp(gamma, prefix + 1, 64, ScriptedEntropy())
    for choices, expected in [([second, third - 1], True), ([second, third + 1], False)]:
        entropy = ScriptedEntropy(choices=choices)
        assert below_exp(gamma, prefix, 64, entropy) is expected
        assert entropy.unread == 0
    if second + 1 < 1 << MORE:
        assert not below_exp(gamma, prefix, 64, ScriptedEntropy(choices=[second + 1]))
    if second:
        assert below_exp(gamma, prefix, 64, ScriptedEntropy(choices=[second - 1]))


def test_below_exp_with_random_prefixes() -> None:
    random = Random("below")
    for _ in range(400):
        gamma = Fraction(random.randrange(10**9), random.choice([10**5, 10**8, 10**9, 10**15]))
        bits = random.choice([8, 53, 64])
        prefix = random.choice([random.randrange(1 << bits), random.randrange(4), (1 << bits) - 1])
        entropy = Recorder(random)
        answer = below_exp(gamma, prefix, bits, entropy)
        for more in entropy.served:
            prefix, bits = prefix << MORE | more, bits + MORE
        low, high = bounds_of_exp_minus(gamma, bits + 64)
        if answer:
            assert (prefix + 1) << 64 <= high
        else:
            assert prefix << 64 >= low


def test_below_exp_of_nothing_is_certain() -> None:
    assert below_exp(Fraction(0), (1 << 64) - 1, 64, ScriptedEntropy())


def test_below_exp_of_something_huge_is_refused_by_the_first_bit_set() -> None:
    assert not below_exp(Fraction(10**6), 0, 64, ScriptedEntropy(choices=[0, 1]))
    assert not below_exp(Fraction(10**40), 1, 64, ScriptedEntropy())


@pytest.mark.parametrize(
    ("form", "wrong"), [("plain", Fraction(11, 10)), ("two_sided", Fraction(11, 10)), ("base", Fraction(11, 10))]
)
def test_a_scale_off_by_a_tenth_is_caught(form: str, wrong: Fraction) -> None:
    """The twin of this file: the same checks refuse cells of another scale."""
    random = Random(f"twin {form}")
    refused = 0
    for _ in range(50):
        scale = Fraction(1 << 30) if form == "base" else Fraction(1000)
        prefix = random.randrange(1, 1 << 63)
        k = cell(scale * wrong, prefix, 63, Recorder(random), form)
        refused += not holds(scale, prefix, 63, k, form)
    assert refused > 40
