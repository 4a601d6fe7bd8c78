"""A first policy from column names and types. No value is in it: bounds and categories are the owner's."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sfumato.schema.column_names import IdOf, id_of, naming, preference
from sfumato.schema.wordings import draft_of_no_id, draft_of_unit

WHOLE_TYPES = ("INT", "LONG")
DATE_TYPES = ("DATE", "TIMESTAMP")
REAL_TYPES = ("FLOAT", "DOUBLE", "DECIMAL", "REAL")
# Of what a column of texts or whole numbers may hold and nothing else, small letters: the second kind of type.
PAIRS = (("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("нет", "да"), ("không", "có"), ("否", "是"))
ZERO_ONE = ("0", "1")
# Bounds that are common knowledge, whatever the table.
KNOWN_BOUNDS = {
    "age": (0, 120),
    "hours_per_week": (0, 168),
    "hours": (0, 168),
    "weight": (0, 300),
    "height": (0, 250),
    "month": (1, 12),
    "day": (1, 31),
    "year": (1900, 2100),
}

Look = tuple[str, str] | Literal["decimal commas"]  # what cells look like where the engine's type does not say it


@dataclass(frozen=True, slots=True)
class Chosen:
    """The column that says whose a row is, and what it is an id of; other columns that may be meant."""

    column: str
    of: IdOf
    others: tuple[str, ...]


def draft_policy(
    source: str,
    table: str,
    columns: Mapping[str, str],
    source_table: str | None = None,
    *,
    private_bounds: str | None = None,
    looks: Mapping[str, Look] | None = None,
) -> str:
    """TOML for a table with these column names and engine types; `private_bounds` stands where bounds are unknown."""
    looks = looks or {}
    unit = chosen_unit(columns, looks)
    lines = [
        "# A draft. Read every line: what is declared here is what the promise is about.",
        "[data]",
        f"source = {_toml(source)}",
        f"table = {_toml(table)}",
        *([f"source_table = {_toml(source_table)}"] if source_table is not None else []),
        "",
        "# Who is protected: everything one id contributed. A question counts up to max_rows rows of it in max_groups",
        "# groups; default_max_rows, if it does not say. Further tables have caps of their own: [tables.x] max_rows.",
        "[unit]",
    ]
    if unit is None:
        lines += ['kind = "row"   # each row is somebody else; if people have several rows, name their id:']
        lines += ['# id = "user_id"', "# max_rows = 20", "# max_groups = 5"]
        lines += ['# or, if no column says whose a row is and nobody has more than 36:  kind = "up to"', "# rows = 36"]
    else:
        lines += [f"id = {_toml(unit.column)}", "max_rows = 10", "max_groups = 5"]
    # The figures are those of `session.explain` and of `session.questions_left(0.5)`; a test compares them.
    of = "" if unit is None else " of people"
    lines += [
        "",
        f"# One count{of} at spend 0.5 is within ±18, and 28 such fit; with delta = 0 it is within ±6, and 6 fit.",
    ]
    if unit is not None:
        lines += [
            "# A count of rows, of which each person may have ten, is within ±176, and with delta = 0 within ±60."
        ]
    lines += ["[budget]", "epsilon = 3", "delta = 1e-6", "", "[columns]"]
    lines += ["# A column that is not declared does not exist for analysts."]
    lines += [
        _column(name, kind.upper(), private_bounds, looks.get(name))
        for name, kind in columns.items()
        if unit is None or name != unit.column
    ]
    return "\n".join(lines) + "\n"


def chosen_unit(columns: Mapping[str, str], looks: Mapping[str, Look] | None = None) -> Chosen | None:
    """A person's id before an event's; of several alike the one that is used most, then the first."""
    found = [
        (kind, preference(name), place, name)
        for place, (name, type_) in enumerate(columns.items())
        if (kind := id_of(name)) is not None and not _is_flag(name, type_, (looks or {}).get(name))
    ]
    if not found:
        return None
    of, _, _, column = min(found)
    return Chosen(column, of, tuple(name for *_, name in found if name != column))


def who_is_protected(columns: Mapping[str, str], looks: Mapping[str, Look] | None = None) -> str:
    """One line for the owner: whom a draft protects, by which column, and what to do if that is wrong."""
    unit = chosen_unit(columns, looks)
    return draft_of_no_id() if unit is None else draft_of_unit(unit.column, unit.of.name, unit.others)


def worth_a_look(columns: Mapping[str, str]) -> list[str]:
    """Columns of which the type does not say whether they hold yes and no, or numbers with decimal commas."""
    unnamed = (name for name in columns if naming(name) is None or id_of(name) is IdOf.bare)
    return [name for name in unnamed if _plain(columns[name].upper()) in ("int", "text")]


def _is_flag(name: str, kind: str, look: Look | None) -> bool:
    """Whether a column says yes or no although it is called like an id: `student` may say who is one."""
    return id_of(name) is IdOf.bare and (_plain(kind.upper()) == "bool" or isinstance(look, tuple))


def _column(name: str, kind: str, private_bounds: str | None, look: Look | None) -> str:
    key, plain = _key(name), _plain(kind)
    if naming(name) is not None and not _is_flag(name, kind, look):
        return f'{key} = {{ type = "identifier" }}   # never leaves, never groups'
    if plain == "bool":
        return _category(key, "true, false")
    if isinstance(look, tuple):
        quoted = look if look == ZERO_ONE else map(_toml, look)
        return _category(key, ", ".join(quoted))
    if plain == "date":
        return (
            f'{key} = {{ type = "date" }}   # to group by it: lower = "…", upper = "…" (known, not read from the data)'
        )
    if plain == "text":
        return f'{key} = {{ type = "text" }}   # {_about_text(look)}'
    return _number(name, plain, private_bounds)


def _about_text(look: Look | None) -> str:
    if look is None:
        return 'to group by it: { type = "category", values = ["…", "…"] }'
    return (
        "its numbers hold commas, so none is read as a number. Write 12.5 for 12,5 (and 1234 for 1,234) in the file, "
        'e.g. with an export that writes decimal points; then: { type = "float", lower = …, upper = … }'
    )


def _category(key: str, values: str) -> str:
    return f'{key} = {{ type = "category", values = [{values}] }}   # two values; any other is left out'


def _number(name: str, kind: str, private_bounds: str | None) -> str:
    key = _key(name)
    if name.casefold() in KNOWN_BOUNDS:
        lower, upper = KNOWN_BOUNDS[name.casefold()]
        return f'{key} = {{ type = "{kind}", lower = {lower}, upper = {upper} }}'
    if private_bounds is not None:
        return f'{key} = {{ type = "{kind}", private_bounds = {private_bounds} }}   # better: lower = …, upper = …'
    return f'{key} = {{ type = "{kind}" }}   # to add it up: lower = …, upper = … (known, not read from the data)'


def _plain(kind: str) -> str:
    """What a type of an engine is declared as."""
    if kind.startswith("BOOL"):
        return "bool"
    if kind.startswith(DATE_TYPES):
        return "date"
    if any(said in kind for said in WHOLE_TYPES):
        return "int"
    return "float" if any(said in kind for said in REAL_TYPES) else "text"


def _key(name: str) -> str:
    return name if name and all(c.isascii() and (c.isalnum() or c in "_-") for c in name) else _toml(name)


def _toml(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + '"'
