"""diffprivlib #23: the Wishart mechanism stayed in the package, and in its documentation, after its proof was refuted.

Rule: a broken proof removes the code. So every mechanism names its proof, and the page is there.
"""

import inspect
import re
from pathlib import Path

import pytest

from sfumato.audit import exact
from sfumato.kernel.mechanisms import additive, choice, found_bounds, keys, ranks

ROOT = Path(__file__).parents[2]
MECHANISMS = (
    additive.DiscreteLaplace,
    additive.DiscreteGaussian,
    choice.Exponential,
    choice.PermuteAndFlip,
    choice.FrequencyChoice,
    found_bounds.BoundedSum,
    keys.KeySelection,
    ranks.RankChoice,
)
SAMPLERS = (exact.discrete_laplace, exact.discrete_gaussian)


@pytest.mark.parametrize("thing", [*MECHANISMS, *SAMPLERS], ids=lambda thing: thing.__name__)
def test_every_mechanism_names_a_proof_that_is_there(thing: object) -> None:
    pages = re.findall(r"Proof: (docs/proofs/[\w-]+\.md)", inspect.getdoc(thing) or "")
    assert pages
    assert all((ROOT / page).is_file() for page in pages)


def test_no_refuted_mechanism_is_in_the_package() -> None:
    sources = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "src").rglob("*.py")))
    assert "class DiscreteLaplace" in sources
    assert not re.search("wishart", sources, re.IGNORECASE)
