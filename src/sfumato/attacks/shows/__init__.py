"""One call a demonstration: an attack on the bare table, on an older protection, and through differential privacy."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pyarrow as pa

from sfumato.attacks.finite import finite
from sfumato.attacks.shows.asking import show_averaging, show_differencing, show_reconstruction, show_tracker
from sfumato.attacks.shows.perturbing import (
    show_denoise_additive,
    show_denoise_multiplicative,
    show_input_output,
    show_known_distribution,
    show_known_sample,
)
from sfumato.attacks.shows.releasing import (
    show_background_knowledge,
    show_homogeneity,
    show_intersection,
    show_linking,
    show_marginals,
    show_skewness,
)
from sfumato.attacks.shows.sampling import show_floating_point, show_membership, show_timing
from sfumato.attacks.shows.scene import Demonstration, Needs, Role, Scene, scene
from sfumato.attacks.staging import Case
from sfumato.attacks.wordings import attack_unknown
from sfumato.errors import not_positive
from sfumato.schema.numbers import whole

SHOWS: dict[str, Callable[[Scene], Demonstration]] = {
    "linking": show_linking,
    "differencing": show_differencing,
    "averaging": show_averaging,
    "tracker": show_tracker,
    "reconstruction": show_reconstruction,
    "marginals": show_marginals,
    "homogeneity": show_homogeneity,
    "background_knowledge": show_background_knowledge,
    "skewness": show_skewness,
    "intersection": show_intersection,
    "known_sample": show_known_sample,
    "known_distribution": show_known_distribution,
    "denoise_additive": show_denoise_additive,
    "denoise_multiplicative": show_denoise_multiplicative,
    "input_output": show_input_output,
    "membership": show_membership,
    "floating_point": show_floating_point,
    "timing": show_timing,
}
_CLASSES, _BITS, _NUMBERS = (
    frozenset({Role.quasi, Role.sensitive}),
    frozenset({Role.bit}),
    frozenset({Role.columns}),
)
# What each attack needs to know of a table; the others take what they are told.
NEEDS: dict[str, Needs] = {
    **dict.fromkeys(("linking", "homogeneity", "background_knowledge", "skewness"), _CLASSES),
    **dict.fromkeys(("intersection", "marginals"), _CLASSES),
    **dict.fromkeys(("averaging", "tracker", "reconstruction"), _BITS),
    **dict.fromkeys(("differencing", "known_sample", "known_distribution", "input_output"), _NUMBERS),
    **dict.fromkeys(("denoise_additive", "denoise_multiplicative"), _NUMBERS),
}
# The sensitive column of the made-up town that shows an attack best, where it is another.
IN_TOWN = {
    "intersection": "income",
    **dict.fromkeys(("homogeneity", "background_knowledge", "skewness"), "marital_status"),
}
ABOUT = {
    "linking": "names come back to a table without names",
    "differencing": "two totals give away one person's value",
    "averaging": "fresh noise averages out",
    "tracker": "a crowd smuggles one person past a minimum size",
    "reconstruction": "counts of random halves give away everybody's secret",
    "marginals": "so do published tables, taken together",
    "homogeneity": "a class in which all have the same value hides nothing",
    "background_knowledge": "nor one in which a few values can be ruled out",
    "skewness": "nor one in which a value is much more common than elsewhere",
    "intersection": "two k-anonymous releases together are not",
    "known_sample": "a few known rows undo a rotation",
    "known_distribution": "so does knowing how the values are distributed",
    "denoise_additive": "additive noise comes out again",
    "denoise_multiplicative": "multiplicative noise too, in logarithms",
    "input_output": "a few rows known before and after show how all were perturbed",
    "membership": "published means tell who was in them",
    "floating_point": "textbook noise in doubles tells the true value",
    "timing": "a sampler that loops tells it by the clock",
}


def demonstrate(
    name: str,
    table: pa.Table | None = None,
    *,
    quasi: Sequence[str] = (),
    sensitive: str | None = None,
    columns: Sequence[str] = (),
    epsilon: float = 1.0,
    k: int = 5,
    seed: int = 0,
) -> Demonstration:
    """Run an attack on the bare table, on an older protection and through a session, side by side.

    table: one row per person, as an Arrow table; people of a made-up town when left out. quasi, sensitive, columns: the
    quasi-identifiers, the sensitive column and the numeric columns, where the attack uses them. epsilon: what the
    session promises in all, for timing in each answer. k: of the k-anonymous release. seed: of the order of the rows
    and of everything made up.

    Rows that lack a value the attack needs are left out. Attacks on releases are run a second time on one
    without a quarter of the people, or 6,000: what is learnt about those is learnt without their records.
    """
    return staged(name, table, quasi=quasi, sensitive=sensitive, columns=columns, epsilon=epsilon, k=k, seed=seed)()


def staged(
    name: str,
    table: pa.Table | None = None,
    *,
    quasi: Sequence[str] = (),
    sensitive: str | None = None,
    columns: Sequence[str] = (),
    epsilon: float = 1.0,
    k: int = 5,
    seed: int = 0,
) -> Callable[[], Demonstration]:
    """A demonstration of which everything is checked and nothing is done; the arguments are those of `demonstrate`."""
    known = name.replace("-", "_")
    if known not in SHOWS:
        raise attack_unknown(name, SHOWS)
    if finite("epsilon", epsilon) <= 0:
        raise not_positive("epsilon", str(epsilon))
    ready = scene(
        known,
        NEEDS.get(known, frozenset()),
        table,
        quasi=quasi,
        sensitive=sensitive,
        columns=columns,
        in_town=IN_TOWN.get(known, "diagnosis"),
        epsilon=float(epsilon),
        k=whole(k, "k", least=2),
        seed=seed,
    )
    return lambda: replace(SHOWS[known](ready), notes=ready.notes)


__all__ = ["ABOUT", "SHOWS", "Case", "Demonstration", "demonstrate", "staged"]
