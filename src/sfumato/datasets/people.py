"""The persons of a town: census attributes drawn from the released tables, identity drawn at random."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.datasets.clinic import YEAR
from sfumato.datasets.names import FEMALE_NAMES, INITIALS, MALE_NAMES, SURNAMES
from sfumato.datasets.tables import released, weights
from sfumato.datasets.variables import (
    AGE_BANDS,
    COUNTRY_GROUPS,
    GAIN_BANDS,
    HOURS_BANDS,
    INCOME_CLASS,
    LOSS_BANDS,
    RACE,
    SEX,
    SIZES,
    TYPICAL_RACE,
    WORKCLASS,
    Band,
)
from sfumato.simulate import Simulator, Stream

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

# No letter was ever sent to these codes: the prefix 699 is not in use.
ZIP_CODES = ("69901", "69902", "69907", "69911", "69913", "69924", "69930", "69938", "69945", "69951")
# About 1 / i^1.4. With the 16,300 persons behind 32,561 visits, zip, birth date and sex single out 87 % of them.
ZIP_WEIGHTS = (1000, 379, 215, 144, 105, 81, 66, 54, 46, 40)
COUNTRIES = tuple(country for group in COUNTRY_GROUPS for country, _ in group)

_CLASS_LIMIT = 50_000
_LOWEST_PAY, _HIGHEST_PAY = 1_200, 500_000
_PAY_SPREAD = 0.28


@dataclass(frozen=True, slots=True)
class People:
    """Columns of equal length, one entry per person; what has labels is held as positions among them."""

    codes: dict[str, Integers]
    age: Integers
    birth_day: Integers
    hours_per_week: Integers
    capital_gain: Integers
    capital_loss: Integers
    income: Floats
    country: Integers
    zip_code: Integers
    name: list[str]
    person_id: Integers


def draw_people(simulator: Simulator, count: int) -> People:
    """As many persons as asked for, each drawn independently of the others, apart from names and ids, which differ."""
    codes = _draw_census(simulator, count)
    age = _inside(simulator.stream("age in years"), AGE_BANDS, codes["age"], _age_weight)
    hours = _inside(simulator.stream("hours in a week"), HOURS_BANDS, codes["hours_per_week"], _hours_weight)
    return People(
        codes=codes,
        age=age,
        birth_day=_birth_days(simulator.stream("birth day"), age),
        hours_per_week=hours,
        capital_gain=_spread(simulator.stream("dollars gained"), GAIN_BANDS, codes["capital_gain"]),
        capital_loss=_spread(simulator.stream("dollars lost"), LOSS_BANDS, codes["capital_loss"]),
        income=_incomes(simulator.stream("pay"), codes, age=age, hours=hours),
        country=_countries(simulator.stream("country in group"), codes["native_country"], codes["race"]),
        zip_code=simulator.stream("zip code").categories(ZIP_WEIGHTS, count),
        name=_names(simulator, codes["sex"]),
        person_id=100_001 + simulator.stream("person id").permutation(count),
    )


def _draw_census(simulator: Simulator, count: int) -> dict[str, Integers]:
    codes: dict[str, Integers] = {}
    for variable, (parents, table) in weights(released()).items():
        rows = np.zeros(count, dtype=np.int64)
        for parent in parents:
            rows = rows * SIZES[parent] + codes[parent]
        codes[variable] = simulator.stream(variable).conditional(table.reshape(-1, SIZES[variable]), rows)
    return codes


def _age_weight(age: int) -> int:
    # Above 73 the living grow fewer every year; below, ages in a band are as good as equal.
    return max(1, 20 - (age - 73)) if age >= 73 else 1


def _hours_weight(hours: int) -> int:
    # People round their hours to tens and fives, and ever fewer of them work longer than sixty.
    rounding = 24 if hours % 10 == 0 else 12 if hours % 5 == 0 else 2 if hours % 2 == 0 else 1
    return rounding * min(10, max(1, 80 - hours))


def _inside(stream: Stream, bands: tuple[Band, ...], chosen: Integers, weight: Callable[[int], int]) -> Integers:
    table = np.zeros((len(bands), bands[-1].high + 1), dtype=np.int64)
    for position, band in enumerate(bands):
        table[position, band.low : band.high + 1] = [weight(value) for value in range(band.low, band.high + 1)]
    return stream.conditional(table, chosen)


def _spread(stream: Stream, bands: tuple[Band, ...], chosen: Integers) -> Integers:
    low = np.array([band.low for band in bands])[chosen]
    high = np.array([band.high for band in bands])[chosen]
    return np.asarray(low + np.floor(stream.uniform(len(chosen)) * (high - low + 1)).astype(np.int64))


def _birth_days(stream: Stream, age: Integers) -> Integers:
    """Days since 1970 of a day in the year YEAR - age, so that the age is right on the last day of YEAR."""
    new_year = (YEAR - age - 1970).astype("datetime64[Y]")
    first = new_year.astype("datetime64[D]").astype(np.int64)
    following = (new_year + 1).astype("datetime64[D]").astype(np.int64)
    return np.asarray(first + np.floor(stream.uniform(len(age)) * (following - first)).astype(np.int64))


def _incomes(stream: Stream, codes: dict[str, Integers], *, age: Integers, hours: Integers) -> Floats:
    """Yearly pay with cents: log-logistic around what education, age, hours and sex suggest, cut to the income class.

    Claim: at most 50,000 for "<=50K", more for ">50K", and 0 for work without pay.
    """
    centre = (
        np.log(23_000.0)
        + 0.085 * (codes["education"] - 8)
        - 0.0005 * np.square(age - 48)
        + 0.6 * np.log(np.clip(hours, 10, 70) / 40)
        + 0.14 * (codes["sex"] == SEX.index("Male"))
    )
    high_class = codes["income_class"] == INCOME_CLASS.index(">50K")
    low = np.where(high_class, _CLASS_LIMIT + 0.01, _LOWEST_PAY)
    high = np.where(high_class, _HIGHEST_PAY, _CLASS_LIMIT)
    below_low, below_high = (1 / (1 + np.exp((centre - np.log(edge)) / _PAY_SPREAD)) for edge in (low, high))
    share = below_low + stream.uniform(len(age)) * (below_high - below_low)
    pay = np.exp(centre + _PAY_SPREAD * np.log(share / (1 - share)))
    cents = np.rint(np.clip(pay, low, high) * 100)
    return np.asarray(np.where(codes["workclass"] == WORKCLASS.index("Without-pay"), 0.0, cents / 100))


def _countries(stream: Stream, group: Integers, race: Integers) -> Integers:
    table = np.zeros((len(COUNTRY_GROUPS), len(RACE), len(COUNTRIES)), dtype=np.int64)
    for position, members in enumerate(COUNTRY_GROUPS):
        for country, weight in members:
            typical = TYPICAL_RACE.get(country or "")
            factors = [5 if typical is None else 100 if typical == one else 1 for one in RACE]
            table[position, :, COUNTRIES.index(country)] = np.array(factors) * weight
    return stream.conditional(table.reshape(-1, len(COUNTRIES)), group * len(RACE) + race)


def _names(simulator: Simulator, sex: Integers) -> list[str]:
    """First name by sex, initial, surname; a name taken already changes its initial, as long as any are free."""
    count = len(sex)
    female = sex == SEX.index("Female")
    share = simulator.stream("first name").uniform(count)
    first = np.where(female, share * len(FEMALE_NAMES), len(FEMALE_NAMES) + share * len(MALE_NAMES)).astype(np.int64)
    surname = simulator.stream("surname").integers(0, len(SURNAMES) - 1, count)
    initial = simulator.stream("initial").integers(0, len(INITIALS) - 1, count)
    for _ in INITIALS:
        whole = (first * len(SURNAMES) + surname) * len(INITIALS) + initial
        seen_first = np.unique(whole, return_index=True)[1]
        taken = np.ones(count, dtype=np.bool_)
        taken[seen_first] = False
        initial = np.where(taken, (initial + 1) % len(INITIALS), initial)
    first_names = FEMALE_NAMES + MALE_NAMES
    return [
        f"{first_names[f]} {INITIALS[i]}. {SURNAMES[s]}"
        for f, i, s in zip(first.tolist(), initial.tolist(), surname.tolist(), strict=True)
    ]
