"""What cannot be: combinations that no person of the town has, whatever the noise in the tables says.

Each rule is common knowledge written by hand, so it costs no privacy. A rule is an array of truth values over the
variables in its name, broadcast against a table of counts.
"""

import numpy as np
from numpy.typing import NDArray

from sfumato.datasets.variables import (
    AGE_BANDS,
    EDUCATION,
    GAIN_BANDS,
    INCOME_CLASS,
    MARITAL_STATUS,
    OCCUPATION,
    RELATIONSHIP,
    SEX,
    WORKCLASS,
)

Mask = NDArray[np.bool_]

_SPOUSE_PRESENT = ("Married-civ-spouse", "Married-AF-spouse")
_YOUNGEST_BY_MARITAL_STATUS = {"Never-married": 17, "Separated": 20, "Divorced": 20, "Widowed": 22}
_YOUNGEST_BY_EDUCATION = {
    "12th": 17,
    "HS-grad": 17,
    "Some-college": 18,
    "Assoc-voc": 20,
    "Assoc-acdm": 20,
    "Bachelors": 20,
    "Masters": 22,
    "Prof-school": 25,
    "Doctorate": 25,
}
_YOUNGEST_BY_OCCUPATION = {
    "Armed-Forces": 18,
    "Exec-managerial": 18,
    "Prof-specialty": 18,
    "Protective-serv": 18,
    "Tech-support": 18,
}
_DESK_WORK = ("Adm-clerical", "Armed-Forces", "Exec-managerial", "Prof-specialty", "Protective-serv", "Tech-support")
_MANUAL_WORK = (
    "Craft-repair",
    "Farming-fishing",
    "Handlers-cleaners",
    "Machine-op-inspct",
    "Other-service",
    "Priv-house-serv",
    "Transport-moving",
)
_YOUNGEST_BY_INCOME_CLASS = {">50K": 20}
_OLDEST_OWN_CHILD = 60


def _youngest(by_value: dict[str, int], values: tuple[str | None, ...], *, otherwise: int) -> Mask:
    lowest = np.array([band.low for band in AGE_BANDS])
    limits = np.array([otherwise if value is None else by_value.get(value, otherwise) for value in values])
    return np.asarray(lowest[:, None] >= limits[None, :])


def relationship_given_sex() -> Mask:
    """Husbands are male, wives female."""
    return np.array(
        [[{"Husband": "Male", "Wife": "Female"}.get(tie, sex) == sex for tie in RELATIONSHIP] for sex in SEX]
    )


def marital_status_given_relationship() -> Mask:
    """Husbands and wives live with a spouse; people who live alone or as single parents do not."""

    def fits(tie: str, status: str) -> bool:
        if tie in ("Husband", "Wife"):
            return status in _SPOUSE_PRESENT
        return tie in ("Own-child", "Other-relative") or status not in _SPOUSE_PRESENT

    return np.array([[fits(tie, status) for status in MARITAL_STATUS] for tie in RELATIONSHIP])


def age_given_relationship_and_marital_status() -> Mask:
    """Marriage, divorce and widowhood take time, and children move out of the parents' home one day."""
    by_status = _youngest(_YOUNGEST_BY_MARITAL_STATUS, MARITAL_STATUS, otherwise=18).T
    oldest = np.array([_OLDEST_OWN_CHILD if tie == "Own-child" else AGE_BANDS[-1].high for tie in RELATIONSHIP])
    by_tie = np.array([band.high for band in AGE_BANDS])[None, :] <= oldest[:, None]
    return by_status[None, :, :] & by_tie[:, None, :]


def income_class_given_age() -> Mask:
    """Nobody below twenty earns more than 50,000."""
    return _youngest(_YOUNGEST_BY_INCOME_CLASS, INCOME_CLASS, otherwise=17)


def occupation_given_age() -> Mask:
    """Some work is not given to seventeen-year-olds."""
    return _youngest(_YOUNGEST_BY_OCCUPATION, OCCUPATION, otherwise=17)


def education_given_occupation_income_class_and_age() -> Mask:
    """A degree takes years; desks and high pay need schooling; doctors do no manual work."""

    def fits(occupation: str | None, income: str, education: str) -> bool:
        years = EDUCATION.index(education)
        schooled = occupation in _DESK_WORK or income == ">50K"
        learned = years >= EDUCATION.index("Prof-school")
        return not (schooled and years < EDUCATION.index("9th")) and not (learned and occupation in _MANUAL_WORK)

    by_work = np.array(
        [[[fits(work, pay, level) for level in EDUCATION] for pay in INCOME_CLASS] for work in OCCUPATION]
    )
    by_age = _youngest(_YOUNGEST_BY_EDUCATION, EDUCATION, otherwise=17)
    return by_work[:, :, None, :] & by_age[None, None, :, :]


def workclass_given_occupation_and_income_class() -> Mask:
    """An unstated occupation has an unstated employer; soldiers serve the state; unpaid work pays no 50,000.

    Nobody has never worked, as everybody in the town has weekly hours.
    """

    def fits(occupation: str | None, income: str, employer: str | None) -> bool:
        if occupation is None or employer is None:
            return occupation is employer
        only = {"Armed-Forces": "Federal-gov", "Priv-house-serv": "Private"}.get(occupation, employer)
        return employer == only and employer != "Never-worked" and (employer, income) != ("Without-pay", ">50K")

    return np.array(
        [[[fits(work, pay, employer) for employer in WORKCLASS] for pay in INCOME_CLASS] for work in OCCUPATION]
    )


def capital_gain_given_income_class() -> Mask:
    """Whoever gains 20,000 by capital earns more than 50,000."""
    return np.array([[pay == ">50K" or band.high < 20_000 for band in GAIN_BANDS] for pay in INCOME_CLASS])
