"""Which column plays which part: checked when the caller says, suggested when nobody has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.anonymise.columns import plain
from sfumato.anonymise.health_words import health_word
from sfumato.anonymise.tables import named, one_or_more, read_table
from sfumato.anonymise.wordings import listed_twice, no_quasi, role_unknown, speaks_of, two_roles
from sfumato.schema.column_names import IdOf, id_of, naming, words_of
from sfumato.schema.roles import ROLES

# A column whose values are nearly all different names people; one with few values and no telling name does not.
NEARLY_UNIQUE = 0.95
FEW_ROWS = 20
_WORDS = {
    "quasi-identifier": (
        "age birth birthday birthdate dob born sex gender zip zipcode postcode postal plz city town county state "
        "region district country nationality native race ethnicity ethnic religion education degree school marital "
        "occupation job profession employer workclass relationship children household height weight language "
        "citizenship date year admission visit hours location lat lon latitude longitude"
    ),
    "sensitive": (
        "test result salary income wage pay wealth debt credit loan balance cost charge crime conviction offence "
        "religion politics party vote orientation grade score"
    ),
}
WORDS = {role: words.split() for role, words in _WORDS.items()}


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A role for a column, why it is suggested, and what share of the values are different."""

    column: str
    role: str
    why: str
    distinct: int
    uniqueness: float

    def to_dict(self) -> dict[str, Any]:
        return {
            "column": self.column,
            "role": self.role,
            "why": self.why,
            "distinct": self.distinct,
            "uniqueness": self.uniqueness,
        }


def classify(table: object, *, roles: Mapping[str, str] | None = None) -> list[Suggestion]:
    """Suggest for each column whether it is an identifier, a quasi-identifier, sensitive or other.

    roles: what is known already, e.g. from a policy; it wins. The name decides first, then how many different values
    there are, then the type. These are suggestions: what others may know of a person is for the owner to say.
    """
    source = read_table(table).table
    given = dict(roles or {})
    named(source, list(given), "roles")
    for column, role in given.items():
        if role not in ROLES:
            raise role_unknown(column, role, ROLES)
    return [_suggested(source, name, given.get(name)) for name in source.column_names]


def _suggested(table: pa.Table, name: str, given: str | None) -> Suggestion:
    array = plain(table, name)
    filled = len(array) - array.null_count
    distinct = int(pc.count_distinct(array, mode="only_valid").as_py())
    share = distinct / filled if filled else 0.0
    role, why = (given, "declared") if given is not None else _guess(name, array.type, filled, distinct, share)
    return Suggestion(name, role, why, distinct, share)


def _guess(name: str, kind: pa.DataType, filled: int, distinct: int, share: float) -> tuple[str, str]:
    if (said := naming(name)) is not None and (distinct > 2 or id_of(name) is not IdOf.bare):
        return "identifier", speaks_of(said)
    if (said := health_word(name)) is not None:
        return "sensitive", speaks_of(said)
    words = words_of(name)
    for role in ("sensitive", "quasi-identifier"):
        for word in words:
            if word in WORDS[role]:
                return role, speaks_of(word)
    if pa.types.is_temporal(kind):
        return "quasi-identifier", "it holds dates"
    real = pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    if filled >= FEW_ROWS and share >= NEARLY_UNIQUE and not real:
        return "identifier", "nearly every value is different"
    if filled and distinct > 1 and share < NEARLY_UNIQUE and not real:
        return "quasi-identifier", "groups of people share its values"
    return "other", "neither its name nor its values point to people"


def checked_roles(table: pa.Table, quasi: Sequence[str], sensitive: str | Sequence[str]) -> tuple[list[str], list[str]]:
    """Quasi-identifiers and sensitive columns that exist, each in one role."""
    names = named(table, quasi, "quasi")
    secrets = named(table, one_or_more(sensitive), "sensitive")
    if not names:
        raise no_quasi()
    apart({"quasi": names, "sensitive": secrets})
    return names, secrets


def apart(roles: Mapping[str, Sequence[str]]) -> None:
    """No column twice, nor in two roles."""
    seen: dict[str, str] = {}
    for role, names in roles.items():
        for name in names:
            if name in seen:
                raise listed_twice(name) if seen[name] == role else two_roles(name, seen[name], role)
            seen[name] = role
