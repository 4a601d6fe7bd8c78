"""dp-accounting as an oracle: the same sequences of mechanisms, its optimistic and its pessimistic ε.

python -m tests.accounting.peer   writes sequences.json anew (a few minutes; needs dp-accounting)
"""

import json
import random
from collections.abc import Sequence
from math import exp
from pathlib import Path
from typing import Any

SEQUENCES = Path(__file__).with_name("sequences.json")
COUNT, LONGEST, STEP = 200, 100, 1e-4
DELTAS = (1e-3, 1e-5, 1e-6, 1e-8)


def peer_epsilon(events: Sequence[Sequence[Any]], delta: float, *, pessimistic: bool, step: float = STEP) -> float:
    """What dp-accounting says; each event is [mechanism, parameters…, how often]."""
    return float(peer_law(events, pessimistic=pessimistic, step=step).get_epsilon_for_delta(delta))


def peer_law(events: Sequence[Sequence[Any]], *, pessimistic: bool, step: float = STEP) -> Any:
    """Its privacy loss distribution of all of them together."""
    from dp_accounting.pld import privacy_loss_distribution as peer

    shared = {"pessimistic_estimate": pessimistic, "value_discretization_interval": step}
    if not pessimistic:
        shared["use_connect_dots"] = False
    composed = None
    for mechanism, *parameters, times in events:
        match mechanism:
            case "laplace":
                law = peer.from_laplace_mechanism(1 / parameters[0], **shared)
            case "geometric":
                sensitivity = parameters[1] if len(parameters) > 1 else 1
                law = peer.from_discrete_laplace_mechanism(
                    parameters[0] / sensitivity, sensitivity=sensitivity, **shared
                )
            case "gaussian":
                law = peer.from_gaussian_mechanism(parameters[0], **shared)
            case "discrete_gaussian":
                law = peer.from_discrete_gaussian_mechanism(parameters[0], **shared)
            case "randomised_response":
                plain = {name: value for name, value in shared.items() if name != "use_connect_dots"}
                law = peer.from_randomized_response(2 / (1 + exp(parameters[0])), 2, **plain)
            case _:
                raise AssertionError(mechanism)
        part = law.self_compose(times) if times > 1 else law
        composed = part if composed is None else composed.compose(part)
    assert composed is not None
    return composed


def adaptive(seed: int) -> dict[str, Any]:
    """A sequence that an analyst could have chosen: every next price depends on the noisy answers so far."""
    source = random.Random(seed)
    length = source.choice([1, 2, 3, 5, 10, 20, 50, LONGEST])
    believed, chosen = 0.0, []
    for _ in range(length):
        eager = 2.0 if abs(believed) > 1 else 0.5
        kind = source.choice(["laplace", "laplace", "gaussian", "geometric", "randomised_response"])
        price = float(f"{eager * source.uniform(0.02, 0.5) * (3 if length < 5 else 1):.3g}")
        parameter = float(f"{4 / price:.3g}") if kind == "gaussian" else price
        chosen.append([kind, parameter, 1])
        believed = 0.7 * believed + source.choice([-1, 1]) * source.expovariate(price) * price
    return {"events": chosen, "delta": source.choice(DELTAS)}


def main() -> None:
    sequences = [adaptive(seed) for seed in range(COUNT)]
    for sequence in sequences:
        for name, pessimistic in (("optimistic", False), ("pessimistic", True)):
            sequence[name] = peer_epsilon(sequence["events"], sequence["delta"], pessimistic=pessimistic)
    lines = ",\n".join(json.dumps(sequence, separators=(",", ":")) for sequence in sequences)
    SEQUENCES.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
