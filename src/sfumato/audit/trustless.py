"""The mechanisms that need no server, as an auditor sees them: every local protocol; noise on places is in `places`."""

from collections.abc import Hashable
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any, cast

import numpy as np

import sfumato.local as local
from sfumato.audit import laws, positions
from sfumato.audit.subject import Subject
from sfumato.kernel.entropy import Entropy
from sfumato.local import packed
from sfumato.local.hitters import Hitters
from sfumato.local.rappor import Rappor

LEVEL = Fraction(2)
DRAWS = 100_000
FREQUENCIES = ("grr", "sue", "oue", "olh", "hadamard", "subset")
MEANS = ("duchi", "piecewise", "hybrid", "laplace")
ATTRIBUTES = {"three": [0, 1, 2], "two": [0, 1]}
TEXTS = ("ab", "ba")
BITS = 8
APART = (0, 3)  # values whose Bloom filters share no bit in either cohort
SHOWN = (Fraction(1, 4), Fraction(3, 4))
FOR_EVER = Fraction(8)  # so that a single report has something to show


def _protocol(name: str, price: Fraction) -> Any:
    if name in MEANS:
        return local.mean(name, lower=0, upper=1, epsilon=price)
    return local.protocol(name, domain=range(2 if name == "rr" else 3), epsilon=price)


def _reports(name: str, value: int, count: int, price: Fraction, entropy: Entropy) -> list[Any]:
    """Reports, coarse enough to be counted; the value of a number is an end of its range."""
    protocol = _protocol(name, price)
    drawn = protocol.randomise(np.full(count, value), entropy=entropy)
    match name:
        case "piecewise" | "hybrid":
            kind = drawn.columns[0] if name == "hybrid" else np.ones(count, dtype=np.int64)
            window = round((1 << 20) / (np.exp(float(LEVEL) / 2) + 1))
            cells = drawn.columns[-1]
            high = np.where(kind == 1, (cells >= (1 << 20) - window) * 2 + (cells < window), cells)
            return list(zip(kind.tolist(), high.tolist(), strict=True))
        case "olh" | "hadamard":
            seeds, cells = drawn.columns
            supported = [protocol.scheme.oracle.cells_of(seeds, np.full(count, code)) == cells for code in range(2)]
            return list(zip(*(one.tolist() for one in supported), strict=True))
        case "laplace":
            return np.clip(drawn.columns[0] >> 20, -1, 1).tolist()  # type: ignore[no-any-return]
        case _:
            return [str(payload) for payload in protocol.scheme.payloads(drawn.columns)]


def _attribute_reports(way: str, row: int, count: int, price: Fraction, entropy: Entropy) -> list[Any]:
    protocol = local.attributes(ATTRIBUTES, epsilon=price, way=way)
    drawn = protocol.randomise({name: np.full(count, row) for name in ATTRIBUTES}, entropy=entropy)
    return [str(payload) for payload in protocol.scheme.payloads(drawn.columns)]


def _attribute_law(way: str, row: int, price: Fraction) -> laws.Law:
    """Randomised response in each; the two values of a row have the same number."""
    share = float(price) / (1 if way == "sample" else len(ATTRIBUTES))
    parts = [laws.response(share, range(len(values)), row) for values in ATTRIBUTES.values()]
    if way == "split":
        return {str([a, b]): parts[0][a] * parts[1][b] for a in parts[0] for b in parts[1]}
    return {str([place, value]): part[value] / 2 for place, part in enumerate(parts) for value in part}


def _hitters(text: str, count: int, price: Fraction, entropy: Entropy) -> list[Any]:
    """The length of the prefix, and which of both texts' prefixes the report supports."""
    scheme = cast("Hitters", local.heavy_hitters(alphabet="ab", length=2, epsilon=price).scheme)
    drawn = local.Client(scheme).randomise([text] * count, entropy=entropy)
    levels, seeds, cells = drawn.columns
    found = [scheme.oracle.cells_of(seeds, scheme.prefixes(scheme.encode([one]))[levels, 0]) == cells for one in TEXTS]
    return list(zip(levels.tolist(), *(one.tolist() for one in found), strict=True))


def _hitters_law(text: str, price: Fraction) -> laws.Law:
    """Two prefixes that differ share a cell for one seed in g; else a lie falls on the other's cell once in g - 1."""
    cells = cast("Hitters", local.heavy_hitters(alphabet="ab", length=2, epsilon=price).scheme).oracle.cells
    keep = laws.response(float(price), range(cells), 0)[0]
    both, own, other = keep / cells, keep * (1 - 1 / cells), (1 - keep) / cells
    swap = TEXTS.index(text)
    one = {(True, True): both, (True, False): own, (False, True): other, (False, False): 1 - both - own - other}
    return {(level, *(pair[::-1] if swap else pair)): chance / 2 for level in (0, 1) for pair, chance in one.items()}


def _bloom(price: Fraction) -> Rappor:
    found = local.protocol(
        "rappor", domain=range(6), epsilon=price, bits=BITS, hashes=2, cohorts=2, p=SHOWN[0], q=SHOWN[1]
    )
    return cast("Rappor", found.scheme)


def _rappor(kept_only: bool, value: int, count: int, price: Fraction, entropy: Entropy) -> list[Any]:
    """Cohort and bits, of the response a device keeps or of one report."""
    scheme = _bloom(price)
    drawn = scheme.permanent(np.full(count, value), entropy)
    drawn = drawn if kept_only else scheme.instantaneous(drawn, entropy)
    return [tuple(payload) for payload in scheme.payloads(drawn)]


def _rappor_law(kept_only: bool, value: int, price: Fraction) -> laws.Law:
    """Bits are independent; which ones a value sets is public."""
    flip = float(1 / (1 + np.exp(float(price) / 4)))
    p, q = (0.0, 1.0) if kept_only else (float(chance) for chance in SHOWN)
    least, most = (1 - flip) * p + flip * q, flip * p + (1 - flip) * q
    law: dict[Hashable, float] = {}
    for cohort, row in enumerate(_bloom(price).filters()[:, value]):
        ones = np.where(np.unpackbits(row, count=BITS, bitorder="little"), most, least)
        for shown in product((0, 1), repeat=BITS):
            bits = np.array(shown, dtype=np.uint8)
            [text] = packed.texts(np.packbits(bits, bitorder="little")[None])
            law[cohort, text] = float(np.where(bits, ones, 1 - ones).prod()) / 2
    return law


def subjects() -> list[Subject]:
    protocols = [
        Subject(f"local {name}", (0, 1), partial(_reports, name), price=LEVEL, draws=DRAWS)
        for name in ("rr", *FREQUENCIES, *MEANS)
    ]
    several = [
        Subject(
            f"local attributes, {way}",
            (0, 1),
            partial(_attribute_reports, way),
            partial(_attribute_law, way),
            price=LEVEL,
            draws=DRAWS,
        )
        for way in ("sample", "split")
    ]
    return [
        *protocols,
        *several,
        Subject("local heavy hitters", TEXTS, _hitters, _hitters_law, price=LEVEL, draws=DRAWS),
        Subject(
            "local rappor, kept for ever",
            APART,
            partial(_rappor, True),
            partial(_rappor_law, True),
            price=LEVEL,
            draws=DRAWS,
        ),
        Subject(
            "local rappor, one report",
            APART,
            partial(_rappor, False),
            partial(_rappor_law, False),
            price=FOR_EVER,
            draws=DRAWS,
            claimed=Fraction(_bloom(FOR_EVER).first_report),
        ),
        *positions.subjects(),
    ]
