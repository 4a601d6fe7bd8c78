"""A first policy from column names and types. No value is looked at: bounds and categories are the owner's."""

from collections.abc import Mapping

WHOLE_TYPES = ("INT", "LONG")
DATE_TYPES = ("DATE", "TIMESTAMP")
REAL_TYPES = ("FLOAT", "DOUBLE", "DECIMAL", "REAL")
IDENTIFYING = ("name", "email", "phone", "ssn", "passport", "address", "surname", "iban", "license")
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


def draft_policy(
    source: str,
    table: str,
    columns: Mapping[str, str],
    source_table: str | None = None,
    *,
    private_bounds: str | None = None,
) -> str:
    """TOML for a table with these column names and engine types; `private_bounds` stands where bounds are unknown."""
    unit = _unit_column(columns)
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
        lines += [f"id = {_toml(unit)}", "max_rows = 10", "max_groups = 5"]
    # The figures are those of `sfumato epsilon 0.5` and of `session.questions_left(0.5)`; a test compares them.
    lines += ["", "# One count at spend 0.5 is within ±18, and 28 such fit; with delta = 0 it is within ±6, and 6 fit."]
    lines += ["[budget]", "epsilon = 3", "delta = 1e-6", "", "[columns]"]
    lines += ["# A column that is not declared does not exist for analysts."]
    lines += [_column(name, kind.upper(), private_bounds) for name, kind in columns.items() if name != unit]
    return "\n".join(lines) + "\n"


def _unit_column(columns: Mapping[str, str]) -> str | None:
    preferred = ("user_id", "person_id", "patient_id", "customer_id", "client_id", "subject_id", "id")
    by_fold = {name.casefold(): name for name in columns}
    for name in preferred:
        if name in by_fold:
            return by_fold[name]
    return next((name for name in columns if name.casefold().endswith("_id")), None)


def _column(name: str, kind: str, private_bounds: str | None) -> str:
    key, plain = _key(name), name.casefold()
    words = plain.replace("-", "_").split("_")
    if any(word in IDENTIFYING for word in words) or plain.endswith("_id") or plain == "id":
        return f'{key} = {{ type = "identifier" }}   # never leaves, never groups'
    if kind.startswith(DATE_TYPES):
        return (
            f'{key} = {{ type = "date" }}   # to group by it: lower = "…", upper = "…" (known, not read from the data)'
        )
    number = "int" if any(t in kind for t in WHOLE_TYPES) else "float" if any(t in kind for t in REAL_TYPES) else None
    if number is None:
        return f'{key} = {{ type = "text" }}   # to group by it: {{ type = "category", values = ["…", "…"] }}'
    if plain in KNOWN_BOUNDS:
        lower, upper = KNOWN_BOUNDS[plain]
        return f'{key} = {{ type = "{number}", lower = {lower}, upper = {upper} }}'
    if private_bounds is not None:
        return f'{key} = {{ type = "{number}", private_bounds = {private_bounds} }}   # better: lower = …, upper = …'
    return f'{key} = {{ type = "{number}" }}   # to add it up: lower = …, upper = … (known, not read from the data)'


def _key(name: str) -> str:
    return name if name and all(c.isascii() and (c.isalnum() or c in "_-") for c in name) else _toml(name)


def _toml(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + '"'
