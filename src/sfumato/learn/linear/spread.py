"""How numbers vary together: means, and variances and covariances, from noisy sums of products."""

from dataclasses import dataclass

import numpy as np

from sfumato.learn.linear.moments import Pairs, Tables, block, together
from sfumato.learn.noise import Floats
from sfumato.learn.schedule import SURE

LEAST_EIGENVALUE = 1e-4  # of correlations
LEAST_VARIANCE = 1e-9  # of a number from -1 to 1


@dataclass(frozen=True, slots=True)
class Spread:
    """Of numbers from -1 to 1, in the order of the columns. There may be many, along the first axis."""

    rows: Floats
    means: Floats
    covariances: Floats


def spread(pairs: Pairs, tables: Tables, noise: float) -> Spread:
    """Of fewer rows than noise lets be known, as if there were so many."""
    places = range(1, len(pairs.used) + 1)
    rows = block(tables, 0, 0)[..., 0, 0]
    believed = np.maximum(rows, max(SURE * noise, 1.0))[..., None]
    sums = np.concatenate([block(tables, 0, place)[..., 0] for place in places], axis=-1)
    means = np.clip(sums / believed, -1, 1)
    products = together(tables, places) / believed[..., None]
    return Spread(rows, means, products - means[..., :, None] * means[..., None, :])


def possible(found: Spread) -> Floats:
    """Covariances no farther from 0 than means allow of numbers from -1 to 1.

    (1 ± x)(1 ± y) is nowhere below 0, so neither is its mean. Where that moves a covariance, it comes nearer to the
    truth, but for the noise of the means.
    """
    above, below = 1 - found.means, 1 + found.means
    least = np.minimum(above[:, None] * above, below[:, None] * below)
    return np.asarray(np.clip(found.covariances, -least, np.minimum(above[:, None] * below, below[:, None] * above)))


def correlations(covariances: Floats, least: Floats) -> Floats:
    """A matrix that correlations can have: 1 on the diagonal, and no negative eigenvalue.

    A variance that is below the least of its column counts as that: then all correlations of the column are near 0.
    """
    variances = np.maximum(np.diagonal(covariances, axis1=-2, axis2=-1), least)
    scale = np.sqrt(variances)
    found = np.clip(covariances / (scale[..., :, None] * scale[..., None, :]), -1, 1)
    found = np.where(np.eye(found.shape[-1], dtype=bool), 1, found)
    values, vectors = np.linalg.eigh(found)
    found = (vectors * np.maximum(values, LEAST_EIGENVALUE)[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    scale = np.sqrt(np.diagonal(found, axis1=-2, axis2=-1))
    return np.asarray(found / (scale[..., :, None] * scale[..., None, :]))


def least_variances(again: Spread) -> Floats:
    """What noise alone may make of variances, by what it made of them many times."""
    deviations = np.diagonal(again.covariances, axis1=-2, axis2=-1).std(axis=0)
    return np.asarray(np.maximum(SURE * deviations, LEAST_VARIANCE))


def directions(covariances: Floats, many: int) -> tuple[Floats, Floats]:
    """The directions in which numbers vary most, one a row, and the variance along each; the largest part points up."""
    values, vectors = np.linalg.eigh(covariances)
    turned = np.swapaxes(vectors, -1, -2)[..., ::-1, :][..., :many, :]
    largest = np.take_along_axis(turned, np.abs(turned).argmax(axis=-1)[..., None], axis=-1)
    return turned * np.where(largest < 0, -1, 1), np.maximum(values[..., ::-1][..., :many], 0)
