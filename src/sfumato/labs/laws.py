"""Laws that draws are tested against. A law called with draws gives a p-value; a law with a scale knows its mistakes.

Claim: for draws that follow the law, the p-value is at most a with probability at most a (exact tests: Kolmogorov's,
binomial, gamma, hypergeometric, joined by Bonferroni; `uncorrelated`, `mean` and `same_law` of numbers use the normal
limit, which at 1000 draws and more errs on the safe side of the second draw).
Draws come stacked: n numbers, or n rows of d coordinates, which are tested one by one and joined.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from scipy import special, stats

from sfumato.labs.verdict import StudentError

Array: TypeAlias = np.ndarray[Any, Any]
Test: TypeAlias = Callable[[Array], float]


@dataclass(frozen=True)
class Family:
    """A shape of noise of scale 1 around 0: its test, its density, half the distance of its quartiles."""

    test: Test
    density: Callable[[Array], Array]
    half_quartile: float
    symmetric: bool = False


def numbers(draws: Array) -> Array:
    """The draws as doubles; texts and endless values are no numbers."""
    if draws.dtype.kind not in "biuf":
        raise StudentError("wrong_type", {"got": "str", "expected": "float"})
    made = np.asarray(draws, dtype=np.float64)
    if not np.all(np.isfinite(made)):
        raise StudentError("not_finite")
    return made


def joined(*p_values: float) -> float:
    """Bonferroni: the smallest p-value times how many there are."""
    return min(1.0, len(p_values) * min(p_values))


@dataclass(frozen=True)
class Scaled:
    """Noise of a known shape around `loc`, times `scale`; both may be one number or one for each coordinate."""

    family: Family
    loc: Array
    scale: Array

    def columns(self, draws: Array) -> tuple[Array, Array, Array]:
        """Draws as n × d, with the location and scale of each coordinate."""
        made = numbers(draws)
        made = made.reshape(len(made), -1)
        wanted = max(self.loc.size, self.scale.size)
        if wanted > 1 and made.shape[1] != wanted:
            raise StudentError("wrong_shape", {"got": made.shape[1], "expected": wanted})
        size = (made.shape[1],)
        return made, np.broadcast_to(self.loc.ravel(), size), np.broadcast_to(self.scale.ravel(), size)

    def noise(self, draws: Array) -> Array:
        made, loc, scale = self.columns(draws)
        return np.asarray((made - loc) / scale)

    def __call__(self, draws: Array) -> float:
        return joined(*(self.family.test(column) for column in self.noise(draws).T))

    def with_scale(self, scale: Any) -> "Scaled":
        return replace(self, scale=np.asarray(scale, dtype=np.float64))


def _scaled(family: Family, loc: Any, scale: Any) -> Scaled:
    made = Scaled(family, np.asarray(loc, dtype=np.float64), np.asarray(scale, dtype=np.float64))
    if np.any(made.scale <= 0):
        raise ValueError("a law needs a positive scale")
    return made


def _laplace(noise: Array) -> float:
    cdf = np.where(noise < 0, 0.5 * np.exp(np.minimum(noise, 0)), 1 - 0.5 * np.exp(-np.maximum(noise, 0)))
    return joined(kolmogorov(cdf), _two_sided_gamma(float(np.abs(noise).sum()), len(noise)))


def _gaussian(noise: Array) -> float:
    return joined(kolmogorov(special.ndtr(noise)), _two_sided_gamma(float((noise**2).sum()) / 2, len(noise) / 2))


def _gumbel(noise: Array) -> float:
    return kolmogorov(np.exp(-np.exp(-np.maximum(noise, -700))))


def _exponential(noise: Array) -> float:
    if noise.min() < 0:
        return 0.0
    return joined(kolmogorov(-np.expm1(-noise)), _two_sided_gamma(float(noise.sum()), len(noise)))


def _uniform(noise: Array) -> float:
    return 0.0 if noise.min() < 0 or noise.max() > 1 else kolmogorov(noise)


def kolmogorov(shares: Array) -> float:
    """The p-value of values that should be uniform between 0 and 1."""
    return float(stats.kstest(np.clip(shares, 0.0, 1.0), "uniform").pvalue)


def _two_sided_gamma(total: float, shape: float) -> float:
    return float(min(1.0, 2 * min(special.gammainc(shape, total), special.gammaincc(shape, total))))


_LOG2 = float(np.log(2))
LAPLACE = Family(_laplace, lambda z: 0.5 * np.exp(-np.abs(z)), _LOG2, symmetric=True)
GAUSSIAN = Family(_gaussian, stats.norm.pdf, float(special.ndtri(0.75)), symmetric=True)
GUMBEL = Family(_gumbel, stats.gumbel_r.pdf, float(np.subtract(*stats.gumbel_r.ppf([0.75, 0.25]))) / 2)
EXPONENTIAL = Family(_exponential, stats.expon.pdf, float(np.log(3)) / 2)
UNIFORM = Family(_uniform, stats.uniform.pdf, 0.25)


def laplace(loc: Any, scale: Any) -> Scaled:
    """Kolmogorov's test, and the sum of |noise| / scale, which follows Gamma(n)."""
    return _scaled(LAPLACE, loc, scale)


def gaussian(loc: Any, sd: Any) -> Scaled:
    """Kolmogorov's test, and the sum of squares, which follows chi-square with n degrees."""
    return _scaled(GAUSSIAN, loc, sd)


def gumbel(loc: Any, scale: Any) -> Scaled:
    return _scaled(GUMBEL, loc, scale)


def exponential(scale: Any, loc: Any = 0.0) -> Scaled:
    return _scaled(EXPONENTIAL, loc, scale)


def uniform(low: float, high: float) -> Scaled:
    return _scaled(UNIFORM, low, high - low)


def gamma(shape: float, scale: float = 1.0) -> Scaled:
    """Sums of `shape` exponential values; the radius of planar Laplace noise is gamma(2, 1 / eps)."""

    def test(noise: Array) -> float:
        return 0.0 if noise.min() < 0 else kolmogorov(special.gammainc(shape, noise))

    low, high = special.gammaincinv(shape, [0.25, 0.75])
    return _scaled(Family(test, lambda z: stats.gamma.pdf(z, shape), float(high - low) / 2), 0.0, scale)


def continuous(cdf: Callable[[Array], Array]) -> Test:
    """Any law with a continuous distribution function."""
    return lambda draws: joined(*(kolmogorov(cdf(column)) for column in _rows(draws).T))


def _rows(draws: Array) -> Array:
    made = numbers(draws)
    return made.reshape(len(made), -1)


@dataclass(frozen=True)
class Bits:
    """Bits that are 1 with probability p (one number, or one for each coordinate): the exact binomial test."""

    p: Any

    def __call__(self, draws: Array) -> float:
        bits = _rows(draws)
        strays = bits[(bits != 0) & (bits != 1)]
        if strays.size:
            raise StudentError("outside_range", {"got": float(strays[0]), "expected": "0, 1"})
        chances = np.ravel(self.p)
        if chances.size not in (1, bits.shape[1]):
            raise StudentError("wrong_shape", {"got": bits.shape[1], "expected": chances.size})
        ones = bits.sum(axis=0).astype(int)
        pairs = zip(ones, np.broadcast_to(chances, ones.shape), strict=True)
        return joined(*(_binomial(int(one), len(bits), float(chance)) for one, chance in pairs))


def binomial(p: Any) -> Bits:
    return Bits(p)


def _binomial(hits: int, draws: int, chance: float) -> float:
    return float(stats.binomtest(hits, draws, min(1.0, chance)).pvalue)


@dataclass(frozen=True)
class Categories:
    """One of `values` with these chances, and never anything else.

    Each value's count is tested as a binomial, and the counts in order of their chances by Kolmogorov's test, which is
    on the safe side for steps: exact at any size, with no cells to join.
    """

    values: Sequence[Any]
    chances: Array

    def __call__(self, draws: Array) -> float:
        counts = _counts(draws, self.values)
        total = int(counts.sum())
        each = [_binomial(int(one), total, float(p)) for one, p in zip(counts, self.chances, strict=True)]
        order = np.argsort(self.chances, kind="stable")
        gap = float(np.abs(np.cumsum(counts[order]) / total - np.cumsum(self.chances[order])).max())
        return joined(joined(*each), float(stats.kstwo.sf(gap, total)))


def categories(values: Sequence[Any], probabilities: Sequence[float]) -> Categories:
    chances = np.asarray(probabilities, dtype=np.float64)
    if len(chances) != len(values) or abs(chances.sum() - 1) > 1e-9:
        raise ValueError("chances of all values add up to 1")
    return Categories(values, chances)


def _counts(draws: Array, values: Sequence[Any]) -> Array:
    if draws.ndim != 1:
        raise StudentError("wrong_shape", {"got": f"{draws.ndim}", "expected": "1"})
    known = np.asarray(values)
    if (known.dtype.kind == "U") != (draws.dtype.kind == "U"):
        raise StudentError("outside_range", {"got": str(draws[0])[:60], "expected": ", ".join(map(str, values))[:200]})
    found = np.array([int(np.sum(draws == one)) for one in known])
    if found.sum() != len(draws):
        stray = draws[~np.isin(draws, known)][0]
        raise StudentError("outside_range", {"got": str(stray)[:60], "expected": ", ".join(map(str, values))[:200]})
    return found


def mean(expected: Any, sd: Any = None) -> Test:
    """Draws whose mean is `expected`, by the normal limit; `sd` of one draw where it is known."""

    def test(draws: Array) -> float:
        made = _rows(draws)
        spread = made.std(axis=0, ddof=1) if sd is None else np.broadcast_to(np.ravel(sd), (made.shape[1],))
        gap = np.abs(made.mean(axis=0) - np.ravel(expected))
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(gap == 0, 0.0, gap * np.sqrt(len(made)) / spread)
        return joined(*(2 * special.ndtr(-z)))

    return test


def uncorrelated() -> Test:
    """Coordinates that have nothing to do with each other: every pair, by ranks, or exactly where both are bits."""

    def test(draws: Array) -> float:
        made = _rows(draws)
        varying = made[:, np.any(made != made[0], axis=0)]
        if varying.shape[1] < 2:
            return 1.0
        bits = bool(np.all((varying == 0) | (varying == 1)))
        return joined(*(_pairs_of_bits(varying) if bits else _pairs_by_rank(varying)))

    return test


def _pairs_of_bits(bits: Array) -> Array:
    n, ones = len(bits), bits.sum(axis=0)
    both = bits.T @ bits
    first, second = np.triu_indices(bits.shape[1], 1)
    seen, law = both[first, second], stats.hypergeom(n, ones[first].astype(int), ones[second].astype(int))
    return np.asarray(np.minimum(1.0, 2 * np.minimum(law.cdf(seen), law.sf(seen - 1))))


def _pairs_by_rank(rows: Array) -> Array:
    ranks = stats.rankdata(rows, axis=0)
    matrix = np.corrcoef(ranks, rowvar=False)
    first, second = np.triu_indices(rows.shape[1], 1)
    return np.asarray(2 * special.ndtr(-np.abs(matrix[first, second]) * np.sqrt(len(rows) - 1)))


def same_law(other: Array) -> Test:
    """Draws of the same law as `other`: two samples of numbers (Kolmogorov–Smirnov) or of names (a table of counts)."""

    def test(draws: Array) -> float:
        if np.asarray(other).dtype.kind != "U":
            pairs = zip(_rows(draws).T, _rows(np.asarray(other)).T, strict=True)
            return joined(*(float(stats.ks_2samp(one, two).pvalue) for one, two in pairs))
        names = np.union1d(np.asarray(other), draws)
        table = np.array([[np.sum(sample == name) for name in names] for sample in (draws, other)])
        exact = [_one_of_two(table, column) for column in range(len(names))]
        return joined(*exact)

    return test


def _one_of_two(table: Array, column: int) -> float:
    totals, hits = table.sum(axis=1), table[:, column]
    law = stats.hypergeom(int(totals.sum()), int(hits.sum()), int(totals[0]))
    return float(min(1.0, 2 * min(law.cdf(hits[0]), law.sf(hits[0] - 1))))


def every(**tests: Test) -> "Every":
    """Several tests of the same draws; the name of the one that fails is the code, unless the law knows better."""
    return Every(tests)


@dataclass(frozen=True)
class Every:
    tests: Mapping[str, Test]

    def __call__(self, draws: Array) -> float:
        return joined(*(test(draws) for test in self.tests.values()))

    def worst(self, draws: Array) -> tuple[str, Test]:
        return min(self.tests.items(), key=lambda named: named[1](draws))
