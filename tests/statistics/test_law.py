"""N4, the exact law: a million draws of every mechanism against its probabilities, and a twin that must fail."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato.kernel import samplers
from sfumato.kernel.mechanisms.additive import DiscreteGaussian, DiscreteLaplace
from sfumato.kernel.mechanisms.choice import Exponential, PermuteAndFlip
from tests.kernel.laws import chi_square, gaussian_cells, laplace_bins, laplace_cells, mutant
from tests.kernel.test_choice import law
from tests.statistics.evidence import ERROR, source

DRAWS = 1_000_000
CHOICES = 200_000
TENTH = Fraction(11, 10)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(30)])
def test_discrete_laplace(scale: Fraction) -> None:
    draws = DiscreteLaplace(scale).draw(DRAWS, source(f"N4 laplace {scale}"))
    assert chi_square(*laplace_cells(draws, scale)) > ERROR
    twin = DiscreteLaplace(scale * TENTH).draw(DRAWS, source(f"N4 twin {scale}"))
    assert chi_square(*laplace_cells(twin, scale)) < ERROR


@pytest.mark.parametrize("scale", [Fraction(10**6, 7), Fraction(1 << 33)])
def test_discrete_laplace_in_bins(scale: Fraction) -> None:
    draws = DiscreteLaplace(scale).draw(DRAWS, source(f"N4 laplace {scale}"))
    assert chi_square(*laplace_bins(draws, scale, 1000)) > ERROR
    twin = DiscreteLaplace(scale * TENTH).draw(DRAWS, source(f"N4 twin {scale}"))
    assert chi_square(*laplace_bins(twin, scale, 1000)) < ERROR


@pytest.mark.parametrize("variance", [Fraction(1, 3), Fraction(1), Fraction(25, 2), Fraction(900)])
def test_discrete_gaussian(variance: Fraction) -> None:
    draws = DiscreteGaussian(variance).draw(DRAWS, source(f"N4 gaussian {variance}"))
    assert chi_square(*gaussian_cells(draws, variance)) > ERROR
    twin = DiscreteGaussian(variance * TENTH * TENTH).draw(DRAWS, source(f"N4 twin {variance}"))
    assert chi_square(*gaussian_cells(twin, variance)) < ERROR


@pytest.mark.exhaustive  # the contracts of both draw from their laws, too: not as often
@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip])
def test_choice(kind: Any) -> None:
    scores = np.array([3.0, 0.0, 2.0, 2.5, -1.0])
    mechanism, entropy = kind(Fraction(1), Fraction(1)), source(f"N4 {kind.__name__}")
    counts = np.bincount([mechanism.draw(scores, entropy) for _ in range(CHOICES)], minlength=5)
    assert chi_square(counts, [float(chance) for chance in law(mechanism, scores)]) > ERROR
    twin = kind(TENTH, Fraction(1))
    assert chi_square(counts, [float(chance) for chance in law(twin, scores)]) < ERROR


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("if two_sided and t else 0.0", "if False else 0.0"),  # zero too seldom
        ("    magnitude -= sign\n", ""),  # negative values one too low
        ("-t * log((1 + exp(-1 / t)) / 2)", "-0.9 * t * log((1 + exp(-1 / t)) / 2)"),
        ("position *= -t\n", "position *= -1.1 * t\n"),
    ],
)
def test_small_slips_in_the_laplace_sampler_show(old: str, new: str) -> None:
    scale = Fraction(5)
    with np.errstate(all="ignore"):
        draws = mutant(samplers, old, new).discrete_laplace(scale, DRAWS, source(f"N4 slip {new}"))
    assert chi_square(*laplace_cells(draws, scale)) < ERROR


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    distance -= float(shift)\n", ""),
        ("distance /= -float(spread)", "distance /= -float(spread) * 1.2"),
        ("candidates[accepted][:missing]", "candidates[:missing]"),
    ],
)
def test_small_slips_in_the_gaussian_sampler_show(old: str, new: str) -> None:
    variance = Fraction(10)
    draws = mutant(samplers, old, new).discrete_gaussian(variance, DRAWS, source(f"N4 slip {new}"))
    assert chi_square(*gaussian_cells(draws, variance)) < ERROR
