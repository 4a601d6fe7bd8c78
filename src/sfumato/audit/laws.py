"""The laws mechanisms claim, in double precision and by other formulas than the samplers use."""

from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations, permutations
from math import erfc, exp, prod, sqrt

import numpy as np
import numpy.typing as npt

from sfumato.noise.sparse_vector import SparseVector
from sfumato.noise.stairs import DiscreteStaircase

Law = Mapping[Hashable, float]
Floats = npt.NDArray[np.float64]


def laplace_tail(scale: float, k: int) -> float:
    """P(X ≥ k) of discrete Laplace noise."""
    return exp(-k / scale) / (1 + exp(-1 / scale)) if k > 0 else 1 - laplace_tail(scale, 1 - k)


def laplace(scale: float, centre: int, reach: int) -> Law:
    """The values from -reach to reach, with the tails at both ends."""
    edges = [1.0, *(laplace_tail(scale, k - centre) for k in range(1 - reach, reach + 1)), 0.0]
    return {k: edges[i] - edges[i + 1] for i, k in enumerate(range(-reach, reach + 1))}


def gaussian(variance: float, centre: int, reach: int) -> Law:
    far = np.arange(-4 * reach, 4 * reach + 1)
    weights = np.exp(-((far - centre) ** 2) / (2 * variance))
    weights /= weights.sum()
    cells = np.bincount(np.clip(far, -reach, reach) + reach, weights)
    return {k: float(cells[k + reach]) for k in range(-reach, reach + 1)}


def staircase(law: DiscreteStaircase, centre: int, reach: int) -> Law:
    """Far enough out, what lies beyond is below 1e-12."""
    far = np.arange(-reach - 30 * law.sensitivity, reach + 30 * law.sensitivity + 1)
    levels = (np.abs(far - centre) + law.sensitivity - law.width) // law.sensitivity
    weights = np.exp(-float(law.epsilon) * levels)
    weights /= weights.sum()
    cells = np.bincount(np.clip(far, -reach, reach) + reach, weights)
    return {k: float(cells[k + reach]) for k in range(-reach, reach + 1)}


def bins(step: float, scale: float, centre: float, edges: Sequence[float], kind: str) -> Law:
    """Real noise on a fine grid: the chance of each interval between edges, the ends open."""

    def above(edge: float) -> float:
        """P(centre + noise ≥ edge)."""
        if kind == "laplace":
            return laplace_tail(scale / step, int(np.ceil((edge - centre) / step)))
        return erfc((edge - centre - step / 2) / (scale * sqrt(2))) / 2

    tails = [1.0, *(above(edge) for edge in edges), 0.0]
    return {place: tails[place] - tails[place + 1] for place in range(len(edges) + 1)}


def response(epsilon: float, categories: Sequence[Hashable], truth: Hashable) -> Law:
    total = exp(epsilon) + len(categories) - 1
    return {category: (exp(epsilon) if category == truth else 1.0) / total for category in categories}


def exponential(rate: float, scores: Sequence[float]) -> Law:
    weights = [exp(rate * (score - max(scores))) for score in scores]
    return {place: weight / sum(weights) for place, weight in enumerate(weights)}


def permute_and_flip(rate: float, scores: Sequence[float]) -> Law:
    """Over all sets of candidates whose coin shows heads: a uniform one of them."""
    heads = [exp(rate * (score - max(scores))) for score in scores]
    everyone = range(len(scores))
    chances = dict.fromkeys(everyone, 0.0)
    for size in range(1, len(scores) + 1):
        for winners in combinations(everyone, size):
            chance = prod(heads[i] if i in winners else 1 - heads[i] for i in everyone)
            for winner in winners:
                chances[winner] += chance / size
    return {place: chances[place] for place in everyone}


def flipped(heads: Floats) -> Floats:
    """Permute-and-flip among many: candidate i is chosen with p_i ∫ Π_{j≠i} (1 - p_j t) dt over [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    edges = np.concatenate([[0.0], 2.0 ** np.arange(-30, 1)])
    widths = np.diff(edges)[:, None]
    t = (edges[:-1, None] + widths * (nodes + 1) / 2).ravel()
    weight = (widths * weights / 2).ravel()
    nobody = np.log1p(-np.outer(t, heads))
    return np.asarray(heads * (weight[:, None] * np.exp(nobody.sum(axis=1)[:, None] - nobody)).sum(axis=0))


def top_k(rate: float, scores: Sequence[float], picks: int) -> Law:
    result: dict[Hashable, float] = {}
    for order in permutations(range(len(scores)), picks):
        left, chance = list(range(len(scores))), 1.0
        for pick in order:
            chance *= permute_and_flip(rate, [scores[i] for i in left])[left.index(pick)]
            left.remove(pick)
        result[order] = chance
    return result


def first_above(law: SparseVector, values: Sequence[int]) -> Law:
    """Of each sequence of answers up to the first yes; the noise of the threshold is summed out."""
    first, scale = float(law.threshold_noise.scale), float(law.value_noise.scale)
    reach = int(40 * first) + 1
    result: dict[Hashable, float] = {}
    q = exp(-1 / first)
    for z in range(-reach, reach + 1):
        chance = (1 - q) / (1 + q) * q ** abs(z)
        noes: tuple[bool, ...] = ()
        for value in values:
            yes = laplace_tail(scale, z - value)
            result[(*noes, True)] = result.get((*noes, True), 0.0) + chance * yes
            chance *= 1 - yes
            noes = (*noes, False)
        result[noes] = result.get(noes, 0.0) + chance
    total = sum(result.values())
    return {answers: chance / total for answers, chance in result.items()}
