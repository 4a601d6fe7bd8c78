"""Data of the labs: people of the town under the headings of the thesis, and patients who took 27 substances."""

from sfumato.labs.data.people import FULL_ROWS, HEADINGS, census
from sfumato.labs.data.substances import DAWN, SUBSTANCES, patients, substance_table

__all__ = [
    "DAWN",
    "FULL_ROWS",
    "HEADINGS",
    "SUBSTANCES",
    "census",
    "patients",
    "substance_table",
]
