"""What a promised epsilon allows an attacker: the bound beside every success. Proof: docs/proofs/attack-bounds.md"""

from sfumato.accounting.belief import highest_rate, membership_advantage
from sfumato.attacks.wordings import delta_alone


def most_hits(chance: float, epsilon: float | None, delta: float = 0.0) -> float | None:
    """The largest share of hits that (epsilon, delta) allows where a guess without the person's record hits `chance`.

    Claim: min(e^ε c + δ, 1 - e^-ε (1 - c - δ)) on average over persons, whatever the attack does; None without epsilon.
    Needs: `epsilon` is what all the answers behind one guess cost together, for adding or removing that person.
    Proof: docs/proofs/attack-bounds.md
    """
    if epsilon is None:
        if delta > 0:
            raise delta_alone()
        return None
    return highest_rate(min(1.0, max(0.0, float(chance))), epsilon, delta)


def most_told_apart(epsilon: float | None, delta: float = 0.0) -> float | None:
    """The largest share of right answers to "which of two neighbouring tables was it", when each is as likely.

    Claim: (e^ε + δ) / (1 + e^ε).
    Proof: docs/proofs/attack-bounds.md
    """
    if epsilon is None:
        if delta > 0:
            raise delta_alone()
        return None
    return (1 + membership_advantage(epsilon, delta)) / 2
