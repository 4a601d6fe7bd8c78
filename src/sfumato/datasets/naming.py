"""Names and identity numbers of people, as the language of an edition writes them. All of them are made up.

Numbers come from ranges never issued, or carry a check digit that is deliberately wrong, so none belongs to anybody.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from sfumato.datasets import names, names_ru, names_vi, names_zh
from sfumato.datasets.variables import SEX
from sfumato.simulate import Simulator

Integers = NDArray[np.int64]
_FEMALE = SEX.index("Female")
_TURNS = 8


@dataclass(frozen=True, slots=True)
class Naming:
    """Three lists, for women and for men, that make up a name; the last turns until the name is free."""

    first: tuple[tuple[str, ...], tuple[str, ...]]
    second: tuple[tuple[str, ...], tuple[str, ...]]
    turning: tuple[tuple[str, ...], tuple[str, ...]]
    joined: Callable[[str, str, str], str]
    number: Callable[[int, int, int, int], str]


def social_security(serial: int, _year: int, _day: int, _sex: int) -> str:
    """United States: areas from 900 on are never issued, groups below 50 not even to taxpayers."""
    spread = 1_511 * serial + 7
    return f"{900 + spread // 490_000 % 100:03d}-{1 + spread // 10_000 % 49:02d}-{spread % 10_000:04d}"


def pension(serial: int, _year: int, _day: int, _sex: int) -> str:
    """Russia: nine digits and a check number of two, which is one too large here."""
    digits = f"{100_000_000 + 24_683 * serial % 899_999_963:09d}"
    weighted = sum(int(digit) * weight for digit, weight in zip(digits, range(9, 0, -1), strict=True))
    wrong = (weighted % 101 % 100 + 1) % 100
    return f"{digits[:3]}-{digits[3:6]}-{digits[6:]} {wrong:02d}"


def citizen_card(serial: int, year: int, _day: int, sex: int) -> str:
    """Vietnam: three digits of a province, one of century and sex, two of the year; provinces end at 096."""
    century = 2 * (year // 100 - 19) + (1 if sex == _FEMALE else 0)
    spread = 2_999 * serial + 7
    return f"9{spread // 1_000_000 % 100:02d}{century}{year % 100:02d}{spread % 1_000_000:06d}"


def resident_card(serial: int, _year: int, day: int, sex: int) -> str:
    """China: region, birth date, order (odd for men), check digit; no region begins with 00, and the digit is wrong."""
    date = np.datetime64(day, "D").astype(str).replace("-", "")
    order = 2 * (serial % 499) + (0 if sex == _FEMALE else 1)
    digits = f"00{serial // 499 % 10_000:04d}{date}{order:03d}"
    weighted = sum(int(digit) * 2 ** (17 - place) for place, digit in enumerate(digits))
    right = (12 - weighted % 11) % 11
    return digits + "0123456789X"[(right + 1) % 11]


NAMINGS: Mapping[str, Naming] = MappingProxyType(
    {
        "en": Naming(
            (names.FEMALE_NAMES, names.MALE_NAMES),
            (names.SURNAMES, names.SURNAMES),
            (names.INITIALS, names.INITIALS),
            lambda first, family, initial: f"{first} {initial}. {family}",
            social_security,
        ),
        "ru": Naming(
            (names_ru.FEMALE_FIRST, names_ru.MALE_FIRST),
            (names_ru.FEMALE_FAMILY, names_ru.MALE_FAMILY),
            (names_ru.FEMALE_PATRONYMICS, names_ru.MALE_PATRONYMICS),
            lambda first, family, patronymic: f"{family} {first} {patronymic}",
            pension,
        ),
        "vi": Naming(
            (names_vi.FEMALE_MIDDLE, names_vi.MALE_MIDDLE),
            (names_vi.FAMILY, names_vi.FAMILY),
            (names_vi.FEMALE_GIVEN, names_vi.MALE_GIVEN),
            lambda middle, family, given: f"{family} {middle} {given}",
            citizen_card,
        ),
        "zh": Naming(
            (names_zh.FEMALE_FIRST, names_zh.MALE_FIRST),
            (names_zh.FAMILY, names_zh.FAMILY),
            (names_zh.FEMALE_SECOND, names_zh.MALE_SECOND),
            lambda first, family, second: f"{family}{first}{second}",
            resident_card,
        ),
    }
)


def names_of(simulator: Simulator, sex: Integers, lang: str) -> list[str]:
    """One name a person, fit for the sex; a name taken already turns its last part, eight times at most.

    In a town of 30,000 that makes all names different but the Vietnamese: there, as in life, some people share theirs.
    """
    naming = NAMINGS[lang]
    chosen = {
        part: _positions(simulator, f"{lang} {part}", sex, getattr(naming, part))
        for part in ("first", "second", "turning")
    }
    turns = np.where(sex == _FEMALE, len(naming.turning[0]), len(naming.turning[1]))
    for _ in range(_TURNS):
        made = np.unique(_written(naming, sex, chosen), return_inverse=True)[1]
        taken = np.ones(len(sex), dtype=np.bool_)
        taken[np.unique(made, return_index=True)[1]] = False
        if not taken.any():
            break
        chosen["turning"] = np.where(taken, (chosen["turning"] + 1) % turns, chosen["turning"])
    return list(_written(naming, sex, chosen))


def numbers_of(simulator: Simulator, sex: Integers, birth_day: Integers, lang: str) -> list[str]:
    """One identity number a person, all different, agreeing with birth date and sex where the country's form does."""
    serial = simulator.stream(f"{lang} identity number").permutation(len(sex))
    year = birth_day.astype("datetime64[D]").astype("datetime64[Y]").astype(np.int64) + 1970
    number = NAMINGS[lang].number
    columns = (serial.tolist(), year.tolist(), birth_day.tolist(), sex.tolist())
    return [number(*one) for one in zip(*columns, strict=True)]


def _positions(simulator: Simulator, name: str, sex: Integers, lists: tuple[tuple[str, ...], ...]) -> Integers:
    share = simulator.stream(name).uniform(len(sex))
    lengths = np.where(sex == _FEMALE, len(lists[0]), len(lists[1]))
    return np.floor(share * lengths).astype(np.int64)


def _written(naming: Naming, sex: Integers, chosen: dict[str, Integers]) -> list[str]:
    rows = zip(sex.tolist(), *(chosen[part].tolist() for part in ("first", "second", "turning")), strict=True)
    lists = [(naming.first[side], naming.second[side], naming.turning[side]) for side in (0, 1)]
    made = []
    for one, first, second, turning in rows:
        firsts, seconds, turnings = lists[0 if one == _FEMALE else 1]
        made.append(naming.joined(firsts[first], seconds[second], turnings[turning]))
    return made
