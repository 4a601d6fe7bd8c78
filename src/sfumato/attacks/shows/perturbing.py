"""Attacks on perturbed rows: rotation, additive and multiplicative noise, and a session asked about each person."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.anonymise import AnonymisedTable, additive_noise, multiplicative_noise, rotation
from sfumato.attacks.denoise import denoise_additive, denoise_multiplicative, input_output
from sfumato.attacks.matrices import Floats, matrix, spanning
from sfumato.attacks.result import AttackResult
from sfumato.attacks.rotate import known_distribution, known_sample
from sfumato.attacks.shows.release import sums_by_person
from sfumato.attacks.shows.scene import BARE, Demonstration, Scene
from sfumato.attacks.staging import Case

KNOWN = 40
# Of a column's standard deviation; for factors, of the logarithm.
NOISE = 0.5
FACTOR = 0.15
# What an attacker takes for the noise of a table that has none.
NONE = 1e-6
# Groups in one answer of the session.
MOST_ROWS = 10_000
NO_ROWS = "A session releases no rows; the last line asks it for a sum a person and column, as near as answers come."

Attack = Callable[[pa.Table, float | None, bool], AttackResult[Any]]


class Rows:
    """Numeric columns in units of their standard deviation, shifted to be positive, and what is made of them."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.columns = scene, list(scene.columns)
        values = matrix(scene.table.slice(0, MOST_ROWS), self.columns, "attacked")
        spread = values.std(axis=0)
        self.values = (values - values.min(axis=0)) / np.where(spread > 0, spread, 1) + 1
        self.true = self.table(self.values)

    def table(self, values: Floats) -> pa.Table:
        return pa.table({name: values[:, place] for place, name in enumerate(self.columns)})

    def private(self, *, positive: bool = False) -> Floats:
        """One sum a person and column, through a session that spends all it has.

        Columns are scaled to width 1 and each person is a group alone, so that every sum is one cell with noise.
        positive: what noise has pushed to 0 or below comes back above it, which costs nothing.
        """
        low, width = self.values.min(axis=0), np.ptp(self.values, axis=0)
        names = [f"c{place}" for place in range(len(self.columns))]
        scaled = (self.values - low) / np.where(width > 0, width, 1)
        answered = sums_by_person(dict(zip(names, scaled.T, strict=True)), self.scene.epsilon)
        rows = np.stack([answered[name] for name in names], axis=1) * width + low
        return np.asarray(np.maximum(rows, 0.01) if positive else rows, dtype=np.float64)

    def noise_of_private(self) -> Sequence[float]:
        width = np.ptp(self.values, axis=0)
        deviation = np.sqrt(2) * len(self.columns) / self.scene.epsilon * width
        return [float(each) for each in np.where(width > 0, deviation, 1.0)]


def _turned(name: str, says: str, rows: Rows, attack: Attack) -> Demonstration:
    turned = rotation(rows.true, rows.columns, seed=rows.scene.seed)
    return _shown(name, says, rows, attack, "rotation", turned, rows.private())


def _shown(
    name: str, says: str, rows: Rows, attack: Attack, method: str, perturbed: AnonymisedTable, private: Floats
) -> Demonstration:
    return Demonstration(
        name,
        f"{says} {NO_ROWS}",
        [
            Case(BARE, attack(rows.true, None, True)),
            Case(method, attack(perturbed.to_arrow(), None, False)),
            Case(rows.scene.promised, attack(rows.table(private), rows.scene.epsilon, False)),
        ],
    )


def show_known_sample(scene: Scene) -> Demonstration:
    rows = Rows(scene)
    known = spanning(rows.values).tolist()

    def attack(released: pa.Table, epsilon: float | None, bare: bool) -> AttackResult[Any]:  # noqa: ARG001
        return known_sample(
            released,
            rows.true.take(known),
            known,
            rows.columns,
            truth=rows.true,
            method="least squares",
            epsilon=epsilon,
        )

    says = f"{len(known)} people are known, and where they stand in the release; that turns all others back."
    return _turned("known_sample", says, rows, attack)


def show_known_distribution(scene: Scene) -> Demonstration:
    rows = Rows(scene)
    half = rows.true.num_rows // 2

    def attack(released: pa.Table, epsilon: float | None, bare: bool) -> AttackResult[Any]:  # noqa: ARG001
        return known_distribution(
            released.slice(0, half),
            rows.true.slice(half),
            rows.columns,
            truth=rows.true.slice(0, half),
            epsilon=epsilon,
        )

    says = "Nobody in the release is known; other people of the same kind are, and their axes are matched."
    return _turned("known_distribution", says, rows, attack)


def show_denoise_additive(scene: Scene) -> Demonstration:
    rows = Rows(scene)

    def attack(released: pa.Table, epsilon: float | None, bare: bool) -> AttackResult[Any]:
        noise: float | Sequence[float] = rows.noise_of_private() if epsilon is not None else NONE if bare else NOISE
        return denoise_additive(released, rows.columns, noise=noise, truth=rows.true, epsilon=epsilon)

    says = "Noise half as wide as the data is drawn out along the axes where the data vary together."
    noisy = additive_noise(rows.true, rows.columns, scale=NOISE, seed=scene.seed)
    return _shown("denoise_additive", says, rows, attack, "additive noise", noisy, rows.private())


def show_denoise_multiplicative(scene: Scene) -> Demonstration:
    rows = Rows(scene)

    def attack(released: pa.Table, epsilon: float | None, bare: bool) -> AttackResult[Any]:
        noise = 1.0 if epsilon is not None else NONE if bare else FACTOR
        return denoise_multiplicative(released, rows.columns, noise=noise, truth=rows.true, epsilon=epsilon)

    says = "Random factors are additive noise in logarithms, and come out the same way."
    noisy = multiplicative_noise(rows.true, rows.columns, scale=FACTOR, seed=scene.seed)
    return _shown(
        "denoise_multiplicative", says, rows, attack, "multiplicative noise", noisy, rows.private(positive=True)
    )


def show_input_output(scene: Scene) -> Demonstration:
    rows = Rows(scene)
    known = list(range(min(max(KNOWN, len(rows.columns) + 2), rows.true.num_rows)))

    def attack(released: pa.Table, epsilon: float | None, bare: bool) -> AttackResult[Any]:  # noqa: ARG001
        return input_output(released, rows.true.take(known), known, rows.columns, truth=rows.true, epsilon=epsilon)

    says = f"{len(known)} people are known before and after the perturbation; that shows how all were perturbed."
    noisy = multiplicative_noise(rows.true, rows.columns, scale=FACTOR, seed=scene.seed)
    return _shown("input_output", says, rows, attack, "multiplicative noise", noisy, rows.private(positive=True))
