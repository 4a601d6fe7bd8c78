"""Where randomness comes from.

Everything that draws takes an `Entropy`; there is no module-level generator and no seed.
"""

import ssl
from typing import Protocol

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]

# RAND_bytes takes a C int.
LARGEST_REQUEST = 1 << 27


class Entropy(Protocol):
    """Uniform integers, independent of everything else."""

    def below(self, bound: int) -> int:
        """A uniform integer in [0, bound)."""
        ...

    def words(self, count: int) -> Words:
        """`count` uniform 64-bit words."""
        ...


class SystemEntropy:
    """OpenSSL's generator, seeded by the operating system.

    Claim: uniform and unpredictable; no two processes or threads share a draw.
    Needs: OpenSSL 1.1.1 or newer, which reseeds in a forked child; nothing is buffered here, so there is
    nothing a child could inherit.
    """

    __slots__ = ()

    def below(self, bound: int) -> int:
        if bound < 1:
            raise ValueError("a draw needs at least one choice")
        bits = (bound - 1).bit_length()
        length = (bits + 7) // 8
        while True:
            value = int.from_bytes(ssl.RAND_bytes(length), "little") >> (8 * length - bits)
            if value < bound:
                return value

    def words(self, count: int) -> Words:
        parts = [ssl.RAND_bytes(8 * min(LARGEST_REQUEST, count - start)) for start in range(0, count, LARGEST_REQUEST)]
        return np.frombuffer(b"".join(parts) if len(parts) != 1 else parts[0], dtype=np.uint64)
