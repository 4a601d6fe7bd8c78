"""How often patients of emergency rooms had taken each of 27 substances, and made-up patients who took them.

The shares are facts from the Drug Abuse Warning Network (DAWN), a national survey of emergency departments in the
United States, as the thesis that the course follows prints them.
"""

from types import MappingProxyType

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.labs.variant import Variant

DAWN = MappingProxyType(
    {
        "Alcohol": 0.530527,
        "Cocaine": 0.325744,
        "Heroin": 0.109529,
        "Marijuana": 0.218641,
        "Stimulants": 0.101317,
        "Amphetamines": 0.027766,
        "Methamphetamine": 0.077830,
        "MDMA": 0.007762,
        "LSD": 0.001503,
        "PCP": 0.027706,
        "Antidepressants": 0.094340,
        "Antipsychotics": 0.052264,
        "Miscellaneous_hallucinogens": 0.001879,
        "Inhalants": 0.009668,
        "Lithium": 0.007860,
        "Opiates": 0.174578,
        "Opiates_unspecified": 0.032600,
        "Narcotic_analgesics": 0.147420,
        "Buprenorphine": 0.001014,
        "Codeine": 0.009444,
        "Fentanyl": 0.007097,
        "Hydrocodone": 0.053049,
        "Methadone": 0.029202,
        "Morphine": 0.011054,
        "Oxycodone": 0.051556,
        "Ibuprofen": 0.027810,
        "Muscle_relaxants": 0.032265,
    }
)
SUBSTANCES = tuple(DAWN)


def substance_table() -> pa.Table:
    """Substance and Probability, one row for each of the 27."""
    return pa.table({"Substance": list(DAWN), "Probability": list(DAWN.values())})


def patients(v: Variant, count: int) -> pa.Table:
    """So many patients, a column of 0 and 1 for each substance, every entry drawn on its own."""
    return pa.table({name: _column(v, name, chance, count) for name, chance in DAWN.items()})


def _column(v: Variant, name: str, chance: float, count: int) -> NDArray[np.int64]:
    return (v.stream(f"patients/{name}").uniform(count) < chance).astype(np.int64)
