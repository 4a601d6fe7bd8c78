"""The one seeded generator, for made-up people and for playing the attacker. Never for noise.

Whoever knows the seed knows every draw, so a value protected with this generator is not protected at all. Noise
comes from an `Entropy` argument in the kernel. Data sets, attacks, perturbation methods and labs use this package;
an import contract keeps it out of everything that answers a question.
"""

from sfumato.simulate.streams import Simulator, Stream

__all__ = ["Simulator", "Stream"]
