"""A convincing town of people who do not exist, to try questions and attacks on.

    census          the people themselves, one row each, named in English, Russian, Vietnamese or Chinese
    population      clinic visits of a census town, as an Arrow table
    deidentify      the same without names: what a careless hospital publishes
    voter_list      names with zip, birth date and sex: what an attacker finds elsewhere

The town is drawn from counts released with epsilon 1; `sfumato.datasets.tables` says how they came about.
"""

from sfumato.datasets.census import census
from sfumato.datasets.release import deidentify, voter_list
from sfumato.datasets.town import REFERENCE_DATE, population

__all__ = ["REFERENCE_DATE", "census", "deidentify", "population", "voter_list"]
