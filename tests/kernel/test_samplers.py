"""The array samplers: the laws of audit.exact, and the same values whether a double or a decimal decides."""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise, product
from random import Random
from typing import Any

import numpy as np
import pytest
from scipy import stats

from sfumato.audit import exact
from sfumato.kernel import samplers
from sfumato.kernel.borders import geometric_cell
from tests.entropy import RepeatedEntropy, ScriptedEntropy, SeededEntropy
from tests.kernel.laws import (
    PRECISE,
    boundary,
    bounds_of_exp_minus,
    chi_square,
    decimal,
    exp_minus,
    gaussian_cells,
    laplace_bins,
    laplace_cells,
    laplace_law,
    mutant,
)
from tests.marks import one_in

MANY = 1_000_000
LIKELY = 1e-6  # a right law is rejected once in a million seeds; the seeds are fixed
TENTH = Fraction(11, 10)


def force_exact(monkeypatch: pytest.MonkeyPatch, *, margins: bool = True, tail: bool = False) -> None:
    """Every draw goes to kernel.borders."""
    if margins:
        monkeypatch.setattr(samplers, "MARGIN", 1e60)
        monkeypatch.setattr(samplers, "COIN_MARGIN", 4.0)
    if tail:
        monkeypatch.setattr(samplers, "TAIL", 4.0)


# ---- the laws ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(10, 3), Fraction(20)])
def test_discrete_laplace_law(scale: Fraction) -> None:
    draws = samplers.discrete_laplace(scale, MANY, SeededEntropy(f"laplace {scale}"))
    assert draws.dtype == np.int64
    assert chi_square(*laplace_cells(draws, scale)) > LIKELY
    twin = samplers.discrete_laplace(scale * TENTH, MANY, SeededEntropy(f"laplace {scale}"))
    assert chi_square(*laplace_cells(twin, scale)) < LIKELY


@pytest.mark.parametrize(
    "scale", [Fraction(1 << 20, 3), samplers.LARGEST_DIRECT, samplers.LARGEST_DIRECT + 1, Fraction(1 << 49)]
)
def test_discrete_laplace_law_of_large_scales(scale: Fraction) -> None:
    draws = samplers.discrete_laplace(scale, MANY, SeededEntropy(f"laplace {scale}"))
    assert draws.dtype == np.int64
    assert chi_square(*laplace_bins(draws, scale)) > LIKELY
    twin = samplers.discrete_laplace(scale * TENTH, MANY, SeededEntropy(f"laplace {scale}"))
    assert chi_square(*laplace_bins(twin, scale)) < LIKELY


@pytest.mark.parametrize("scale", [Fraction(1 << 60), Fraction((1 << 80) + 1, 3), Fraction(10) ** 90])
def test_discrete_laplace_law_of_huge_scales(scale: Fraction) -> None:
    count = 50_000
    draws = samplers.discrete_laplace(scale, count, SeededEntropy(f"laplace {scale}"))
    assert draws.dtype == object
    assert all(type(draw) is int for draw in draws[:100])
    assert chi_square(*laplace_bins(draws, scale, 100)) > LIKELY
    twin = samplers.discrete_laplace(scale * TENTH, count, SeededEntropy(f"laplace {scale}"))
    assert chi_square(*laplace_bins(twin, scale, 100)) < LIKELY


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(4)])
def test_geometric_law(scale: Fraction) -> None:
    draws = samplers.geometric(scale, MANY, SeededEntropy(f"geometric {scale}"))
    reach = int(14 * scale) + 4
    with localcontext(PRECISE):
        q = exp_minus(1 / scale)
        law = [float((1 - q) * exp_minus(k / scale)) for k in range(reach)] + [float(exp_minus(reach / scale))]
    assert draws.min() == 0
    assert chi_square(np.bincount(np.minimum(draws, reach), minlength=reach + 1), law) > LIKELY


@pytest.mark.parametrize("variance", [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(10), Fraction(1000, 3)])
def test_discrete_gaussian_law(variance: Fraction) -> None:
    draws = samplers.discrete_gaussian(variance, MANY, SeededEntropy(f"gaussian {variance}"))
    assert draws.dtype == np.int64
    assert chi_square(*gaussian_cells(draws, variance)) > LIKELY
    twin = samplers.discrete_gaussian(variance * TENTH * TENTH, MANY, SeededEntropy(f"gaussian {variance}"))
    assert chi_square(*gaussian_cells(twin, variance)) < LIKELY


@pytest.mark.parametrize("deviation", [10**5, 10**9, 1 << 52, 10**40])
def test_discrete_gaussian_law_of_large_deviations(deviation: int) -> None:
    # From a deviation of 10 on the law and the rounded continuous one differ by less than 1e-80 in any interval.
    count = MANY if deviation < 1 << 28 else 100_000
    draws = samplers.discrete_gaussian(Fraction(deviation) ** 2, count, SeededEntropy(f"gaussian {deviation}"))
    edges = stats.norm.ppf(np.arange(1, 100) / 100)
    for wrong, likely in ((1.0, True), (1.1, False)):
        place = np.searchsorted(edges, (draws * wrong / deviation).astype(np.float64))
        assert (chi_square(np.bincount(place, minlength=100), [0.01] * 100) > LIKELY) is likely


@pytest.mark.slow
def test_the_scalar_samplers_have_the_same_laws() -> None:
    entropy, count = SeededEntropy("scalar"), 20_000
    laplace = np.array([exact.discrete_laplace(Fraction(5), entropy) for _ in range(count)])
    gaussian = np.array([exact.discrete_gaussian(Fraction(30), entropy) for _ in range(count)])
    assert chi_square(*laplace_cells(laplace, Fraction(5))) > LIKELY
    assert chi_square(*gaussian_cells(gaussian, Fraction(30))) > LIKELY
    assert chi_square(*laplace_cells(laplace, Fraction(5) * TENTH)) < LIKELY
    assert chi_square(*gaussian_cells(gaussian, Fraction(30) * TENTH * TENTH)) < LIKELY


def test_both_signs_are_equally_likely_and_zero_has_none() -> None:
    for draws in (
        samplers.discrete_laplace(Fraction(3), MANY, SeededEntropy("signs")),
        samplers.discrete_laplace(Fraction(1 << 30), MANY, SeededEntropy("signs")),
        samplers.discrete_gaussian(Fraction(9), MANY, SeededEntropy("signs")),
    ):
        positive, negative = int((draws > 0).sum()), int((draws < 0).sum())
        assert abs(positive - negative) < 6 * (positive + negative) ** 0.5
    zeros = int((samplers.discrete_laplace(Fraction(1), MANY, SeededEntropy("zeros")) == 0).sum())
    expected = float(laplace_law(Fraction(1), 0)) * MANY
    assert abs(zeros - expected) < 6 * expected**0.5


# ---- digits ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [Fraction(1 << 29), Fraction(1 << 40), Fraction(10) ** 30])
def test_the_lowest_digit(scale: Fraction) -> None:
    """P(digit < d) = (1 - q^d) / (1 - q^base)."""
    digits = samplers._digits(scale, MANY, SeededEntropy(f"digit {scale}"))
    assert digits.min() >= 0
    assert digits.max() < samplers.DIGIT
    bins = 256
    with localcontext(PRECISE):
        borders = [1 - exp_minus(Fraction(samplers.DIGIT * i, bins) / scale) for i in range(bins + 1)]
        law = [float((b - a) / borders[-1]) for a, b in pairwise(borders)]
    assert chi_square(np.bincount(digits // (samplers.DIGIT // bins), minlength=bins), law) > LIKELY


def test_a_digit_skewed_the_wrong_way_is_caught() -> None:
    scale = Fraction(1 << 25)  # far smaller than the sampler would use, so that the skew is visible
    digits = samplers._digits(scale, MANY, SeededEntropy("skew"))
    bins = 16
    law = np.diff([-float(1 - exp_minus(Fraction(samplers.DIGIT * i, bins) / scale)) for i in range(bins + 1)])
    law = law / law.sum()
    counts = np.bincount(digits // (samplers.DIGIT // bins), minlength=bins)
    assert chi_square(counts, law.tolist()) > LIKELY
    assert chi_square(counts, law[::-1].tolist()) < LIKELY
    assert chi_square(counts, [1 / bins] * bins) < LIKELY


def test_digits_are_independent_and_add_up() -> None:
    scale = Fraction(1 << 30)
    draws = samplers.geometric(scale, MANY, SeededEntropy("sum"))
    high, low = draws // samplers.DIGIT, draws % samplers.DIGIT
    table = np.zeros((8, 8))
    high_bin = np.minimum(high // 16, 7)
    np.add.at(table, (high_bin, low // (samplers.DIGIT // 8)), 1)
    assert stats.chi2_contingency(table).pvalue > LIKELY
    assert abs(draws.mean() / float(scale) - 1) < 6 / MANY**0.5


def test_a_large_draw_is_its_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    words = [int(word) for word in SeededEntropy("one large draw").words(3)]
    scale = Fraction(1 << 60)  # two digits of 24 bits and a high part of scale 2^12
    draw = samplers.geometric(scale, 1, ScriptedEntropy(words))[0]
    high = samplers._cells(scale / samplers.DIGIT**2, np.array(words[:1], dtype=np.uint64), ScriptedEntropy())[0]
    middle = samplers._digits(scale / samplers.DIGIT, 1, ScriptedEntropy(words[1:2]))[0]
    low = samplers._digits(scale, 1, ScriptedEntropy(words[2:]))[0]
    assert draw == (int(high) * samplers.DIGIT + int(middle)) * samplers.DIGIT + int(low)


# ---- a high part, a digit and a sign ------------------------------------------------------------------------


def narrow_digits(monkeypatch: pytest.MonkeyPatch, high_bits: int) -> None:
    """A high part so short that digits are as uneven as the law itself."""
    monkeypatch.setattr(samplers, "HIGH_BITS", high_bits)
    monkeypatch.setattr(samplers, "SURE", np.uint64((1 << 64) - (1 << 64 - high_bits)))


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "high_bits"), [(Fraction(13), 2), (Fraction(31), 1), (Fraction(100, 7), 0)])
def test_the_law_of_wide_draws(monkeypatch: pytest.MonkeyPatch, scale: Fraction, high_bits: int) -> None:
    narrow_digits(monkeypatch, high_bits)
    many = 100_000
    draws = samplers._wide(scale, many, SeededEntropy(f"wide {scale}"))
    assert chi_square(*laplace_cells(draws, scale)) > LIKELY
    monkeypatch.setattr(samplers, "below_exp", lambda *_: True)
    evenly = samplers._wide(scale, many, SeededEntropy(f"wide {scale}"))
    assert chi_square(*laplace_cells(evenly, scale)) < LIKELY


def test_words_that_decide_at_a_glance_decide_as_the_coin_does(monkeypatch: pytest.MonkeyPatch) -> None:
    scale, count = Fraction(3 << 40, 2), 3_000
    words = SeededEntropy("glance").words(2 * count).copy()
    words[count:] |= samplers.SURE  # half of them just below the border, and half above
    words[count::2] -= np.uint64(1 << 64 - samplers.HIGH_BITS)
    quick = samplers._wide(scale, count, RepeatedEntropy(words, "glance"))
    monkeypatch.setattr(samplers, "SURE", np.uint64(0))
    assert np.array_equal(samplers._wide(scale, count, RepeatedEntropy(words, "glance")), quick)


@pytest.mark.parametrize("scale", [samplers.LARGEST_DIRECT + 1, Fraction(1 << 41) - Fraction(1, 3), Fraction(1 << 50)])
def test_a_wide_draw_is_its_parts(scale: Fraction) -> None:
    bits = int(scale).bit_length() - 1 - samplers.HIGH_BITS
    assert 1 << samplers.HIGH_BITS <= scale / (1 << bits) < 2 << samplers.HIGH_BITS
    for sign, digit in ((0, 0), (1, 0), (0, (1 << bits) - 1), (1, (1 << bits) - 1), (1, 5)):
        word = int(SeededEntropy("parts").words(1)[0])
        high = geometric_cell(scale / (1 << bits), word >> 1, 63, ScriptedEntropy())
        drawn = int(samplers._wide(scale, 1, ScriptedEntropy([word, digit << 1 | sign]))[0])
        whole = (high << bits) + digit
        assert drawn == (-1 - whole if sign else whole)


def test_a_digit_whose_coin_fails_is_drawn_again() -> None:
    scale, bits = Fraction(1 << 40), 40 - samplers.HIGH_BITS
    refused, kept = (1 << 64) - 1, 6 << 1 | 1
    draws = samplers._wide(scale, 1, ScriptedEntropy([1 << 63, refused], [kept]))
    high = geometric_cell(scale / (1 << bits), 1 << 62, 63, ScriptedEntropy())
    assert draws.tolist() == [-1 - ((high << bits) + 6)]


@pytest.mark.parametrize("scale", [Fraction(5), Fraction(1 << 40), Fraction(1 << 60)])
@pytest.mark.parametrize("count", [0, 1, samplers.CHUNK, 2 * samplers.CHUNK + 3])
def test_pieces_are_the_draws(scale: Fraction, count: int) -> None:
    count = count if scale <= samplers.LARGEST_INT64 else min(count, 9)
    for whole, pieces, size in (
        (samplers.discrete_laplace, samplers.laplace_pieces, scale),
        (samplers.discrete_gaussian, samplers.gaussian_pieces, scale**2),
    ):
        parts = list(pieces(size, count, SeededEntropy("pieces")))
        joined = [draw for part in parts for draw in part.tolist()]
        assert joined == whole(size, count, SeededEntropy("pieces")).tolist()
        assert len(joined) == count
        assert all(len(part) <= samplers.CHUNK for part in parts)


# ---- a double decides as a decimal does --------------------------------------------------------------------

SCALES = [
    Fraction(1, 10**30),
    Fraction(1, 50),
    Fraction(1, 10),
    Fraction(1, 3),
    Fraction(1),
    Fraction(22, 7),
    Fraction(100),
    Fraction(12345, 11),
    Fraction(10**6),
    Fraction(1 << 24),
    samplers.LARGEST_DIRECT,
]
LARGE_SCALES = [samplers.LARGEST_DIRECT + 1, Fraction(1 << 40), Fraction((1 << 80) + 1, 7), Fraction(10) ** 60]
WORDS = 1_000


def hostile_words(scale: Fraction, form: str) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Uniform words, words at the ends of the unit interval and at powers of two, and words at borders of cells."""
    random = Random(f"hostile {scale} {form}")
    prefixes = [0, 1, 2, 3, (1 << 63) - 1, (1 << 63) - 2]
    prefixes += [(1 << shift) + d for shift in range(2, 63, 6) for d in (-1, 0, 1)]
    most = samplers.DIGIT - 1 if form == "base" else int(10 * scale) + 1
    for _ in range(100):
        border = boundary(scale, random.randint(1, most), 63, form)
        prefixes += [border + d for d in (-1, 0, 1, random.randint(-(1 << 14), 1 << 14))]
    edges = [prefix << 1 | 1 for prefix in prefixes if 0 <= prefix < 1 << 63]
    seeded = SeededEntropy(f"hostile {scale} {form}").words(WORDS - len(edges))
    return np.concatenate([np.array(edges, dtype=np.uint64), seeded])


def agrees(module: Any, scale: Fraction, form: str) -> bool:
    """Whether the module's double and kernel.borders give the same cells for the same words and the same extensions."""
    words, extensions = hostile_words(scale, form), SeededEntropy("extensions")
    options: dict[str, Any] = {"base": samplers.DIGIT} if form == "base" else {"two_sided": form == "two_sided"}
    slow = [geometric_cell(scale, int(word) >> 1, 63, extensions, **options) for word in words]
    entropy = RepeatedEntropy(words, "extensions")
    with np.errstate(all="ignore"):
        quick = (
            module._digits(scale, len(words), entropy)
            if form == "base"
            else module._cells(scale, words, entropy, two_sided=form == "two_sided")
        )
    return quick.tolist() == slow


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "form"), one_in(3, product(SCALES, ["plain", "two_sided"])))
def test_cells_by_double_and_by_decimal(scale: Fraction, form: str) -> None:
    assert agrees(samplers, scale, form)


@pytest.mark.parametrize("scale", LARGE_SCALES)
def test_digits_by_double_and_by_decimal(scale: Fraction) -> None:
    assert agrees(samplers, scale, "base")


@pytest.mark.parametrize(
    ("old", "new", "scale", "form"),
    [
        ("MARGIN = 2.0**-42  #", "MARGIN = 0.0  #", Fraction(10**6), "two_sided"),
        ("TAIL = 2.0**-18  #", "TAIL = 0.0  #", Fraction(100), "plain"),
        ("t = float(scale)\n", "t = float(scale) * (1 + 1e-6)\n", Fraction(100), "two_sided"),
        ("if two_sided and t else 0.0", "if False else 0.0", Fraction(100), "two_sided"),
        ("DIGIT * MARGIN,", "0.0,", LARGE_SCALES[1], "base"),
        ("    uniform *= -(2.0**-63)\n    uniform += 1.0\n", "    uniform *= 2.0**-63\n", LARGE_SCALES[1], "base"),
    ],
)
def test_twins_disagree(old: str, new: str, scale: Fraction, form: str) -> None:
    assert not agrees(mutant(samplers, old, new), scale, form)


def test_coins_by_double_and_by_decimal(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 4_000
    words = SeededEntropy("coins").words(count).copy()
    gammas = [Fraction(i * i, 7**7) for i in range(count)]
    # Every other word starts like the probability itself.
    for i in range(0, count, 2):
        words[i] = min(bounds_of_exp_minus(gammas[i], 64)[0], (1 << 64) - 1)
    near = np.exp([-float(gamma) for gamma in gammas])
    quick = samplers.coins(near, gammas.__getitem__, RepeatedEntropy(words, "extensions"))
    monkeypatch.setattr(samplers, "COIN_MARGIN", 4.0)
    slow = samplers.coins(near, gammas.__getitem__, RepeatedEntropy(words, "extensions"))
    assert np.array_equal(quick, slow)
    assert 0.1 * count < quick.sum() < 0.9 * count
    monkeypatch.setattr(samplers, "COIN_MARGIN", 0.0)
    unsure = samplers.coins(near, gammas.__getitem__, RepeatedEntropy(words, "extensions"))
    assert not np.array_equal(unsure, slow), "without a margin the double must err on these words"


@pytest.mark.slow
@pytest.mark.parametrize(("margins", "tail"), [(True, False), (False, True)])
@pytest.mark.parametrize("scale", [Fraction(3, 2), Fraction(1 << 30)])
def test_discrete_laplace_law_when_every_draw_is_doubtful(
    monkeypatch: pytest.MonkeyPatch, scale: Fraction, margins: bool, tail: bool
) -> None:
    force_exact(monkeypatch, margins=margins, tail=tail)
    draws = samplers.discrete_laplace(scale, 3_000, SeededEntropy(f"forced {scale}"))
    cells = laplace_cells if scale < 100 else laplace_bins
    assert chi_square(*cells(draws, scale)) > LIKELY


def test_discrete_gaussian_law_when_every_draw_is_doubtful(monkeypatch: pytest.MonkeyPatch) -> None:
    force_exact(monkeypatch)
    draws = samplers.discrete_gaussian(Fraction(7, 2), 3_000, SeededEntropy("forced gaussian"))
    assert chi_square(*gaussian_cells(draws, Fraction(7, 2))) > LIKELY
    assert chi_square(*gaussian_cells(draws, Fraction(7, 2) * TENTH**4)) < LIKELY


def test_the_slow_path_is_rare_and_does_not_follow_the_scale() -> None:
    for scale, limit in (
        (Fraction(1), 40),
        (Fraction(10**5), 40),
        (samplers.LARGEST_DIRECT, 400),
        (Fraction(1 << 40), 40),
    ):
        calls = 0

        def count(*arguments: Any, **options: Any) -> int:
            nonlocal calls
            calls += 1
            return 0

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(samplers, "geometric_cell", count)
            samplers.discrete_laplace(scale, MANY, SeededEntropy(f"rare {scale}"))
        assert calls < limit, scale


# ---- what the margins need ---------------------------------------------------------------------------------


def ulps(computed: float, exactly: Decimal) -> float:
    return float(abs(Decimal(computed) - exactly) / Decimal(np.spacing(abs(computed))))


def test_elementary_functions_err_by_less_than_four_units_in_the_last_place() -> None:
    """The proofs allow four; the interpreter's and NumPy's vector loops must stay below."""
    uniform = SeededEntropy("libm").words(3_000).astype(np.float64) * 2.0**-64
    with localcontext(PRECISE):
        small = np.concatenate([uniform, uniform * 2.0**-17])
        for value, computed in zip(small, np.log(small), strict=True):
            assert ulps(computed, Decimal(value).ln()) < 4
        wide = -np.concatenate([uniform, uniform * 700])
        for value, computed in zip(wide, np.exp(wide), strict=True):
            assert ulps(computed, Decimal(value).exp()) < 4
        tiny = -np.concatenate([uniform / 16, uniform * 2.0**-60])
        for value, computed in zip(tiny, np.log1p(tiny), strict=True):
            assert ulps(computed, (1 + Decimal(value)).ln()) < 4


@pytest.mark.parametrize(
    "variance", [Fraction(1, 10**6), Fraction(1, 3), Fraction(999, 1000), Fraction(1), Fraction(50), Fraction(10**12)]
)
def test_acceptance_probabilities_are_as_near_as_coins_need(
    variance: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    near: list[Any] = []
    monkeypatch.setattr(
        samplers, "coins", lambda probabilities, gamma_of, entropy: near.append((probabilities, gamma_of))
    )
    scale = int(float(variance) ** 0.5) + 1
    candidates = samplers.discrete_laplace(Fraction(scale), 300, SeededEntropy(f"near {variance}"))
    samplers._acceptable(candidates, variance / scale, 2 * variance, ScriptedEntropy())
    probabilities, gamma_of = near[0]
    with localcontext(PRECISE):
        for index, probability in enumerate(probabilities):
            assert abs(Decimal(float(probability)) - (-decimal(gamma_of(index))).exp()) < Decimal(2) ** -49


# ---- shapes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 6, 7, 8, 21, 22])
@pytest.mark.parametrize("scale", [Fraction(2), Fraction(1 << 30), Fraction(1 << 55)])
def test_chunks_join_without_a_seam(monkeypatch: pytest.MonkeyPatch, scale: Fraction, count: int) -> None:
    whole = samplers.geometric(scale, count, SeededEntropy("seam"))
    laplace = samplers.discrete_laplace(Fraction(2), count, SeededEntropy("seam"))
    monkeypatch.setattr(samplers, "CHUNK", 7)
    assert len(whole) == count
    assert np.array_equal(samplers.geometric(scale, count, SeededEntropy("seam")), whole)
    assert np.array_equal(samplers.discrete_laplace(Fraction(2), count, SeededEntropy("seam")), laplace)
    assert len(samplers.discrete_gaussian(scale, count, SeededEntropy("seam"))) == count


@pytest.mark.parametrize("count", [samplers.CHUNK - 1, samplers.CHUNK, samplers.CHUNK + 1, 2 * samplers.CHUNK + 5])
def test_real_chunks(count: int) -> None:
    draws = samplers.discrete_laplace(Fraction(1000), count, SeededEntropy("real chunks"))
    more = samplers.discrete_laplace(Fraction(1000), 3 * samplers.CHUNK, SeededEntropy("real chunks"))
    assert np.array_equal(draws, more[:count])
    assert len(samplers.discrete_gaussian(Fraction(1000), count, SeededEntropy("real chunks"))) == count


def test_integers_of_64_bits_up_to_their_limit_and_python_integers_above() -> None:
    entropy = SeededEntropy("kinds")
    limit = samplers.LARGEST_INT64
    assert samplers.geometric(limit, 3, entropy).dtype == np.int64
    assert samplers.geometric(limit + 1, 3, entropy).dtype == object
    assert samplers.discrete_laplace(limit, 3, entropy).dtype == np.int64
    assert samplers.discrete_laplace(limit + 1, 3, entropy).dtype == object
    assert samplers.discrete_gaussian((limit - 1) ** 2, 3, entropy).dtype == np.int64
    assert samplers.discrete_gaussian(limit**2, 3, entropy).dtype == object
    assert all(type(draw) is int for draw in samplers.discrete_laplace(limit + 1, 50, entropy).tolist())
    assert all(type(draw) is int for draw in samplers.discrete_laplace(limit, 50, entropy).tolist())


def test_scales_beyond_the_doubles() -> None:
    entropy = SeededEntropy("beyond")
    assert not samplers.discrete_laplace(Fraction(1, 10**400), 50, entropy).any()
    assert not samplers.discrete_gaussian(Fraction(1, 10**300), 50, entropy).any()
    assert not samplers.discrete_laplace(Fraction(1, 10**310), 50, entropy).any()
    assert len(samplers.discrete_laplace(Fraction(10) ** 280, 50, entropy)) == 50


def test_words_are_spent_by_count_and_not_by_value() -> None:
    """One word a draw and one a coin: what was drawn does not show in how much was read."""
    for seed in range(20):
        entropy = SeededEntropy(f"spent {seed}")
        samplers.discrete_laplace(Fraction(50), 1000, entropy)
        assert entropy.words_read == 1000
        samplers.discrete_laplace(Fraction(1 << 30), 1000, entropy)
        assert entropy.words_read == 1000 + 2 * 1000
        samplers.discrete_laplace(Fraction(1 << 51), 1000, entropy)
        assert entropy.words_read == 1000 + 2 * 1000 + 2 * 2 * 1000
