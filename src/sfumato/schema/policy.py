"""The policy file: what an owner promises about a table, in TOML, numbers read exactly as typed."""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from sfumato.errors import SfumatoError, UsageError, file_unreadable
from sfumato.schema.allow import FAMILIES, Family, check_allowed
from sfumato.schema.budget import Budget
from sfumato.schema.columns import Category, Date, Declared, Float, Identifier, Int, Text
from sfumato.schema.given import as_path, check_version
from sfumato.schema.limits import Limits
from sfumato.schema.others import Lookup, Table
from sfumato.schema.roles import ROLES
from sfumato.schema.table import Schema
from sfumato.schema.unit import CAPS, Person, Row, Unit, UpTo
from sfumato.schema.wordings import (
    not_of_kind,
    policy_lacks,
    policy_malformed,
    policy_missing,
    policy_unknown,
    policy_wrong,
)

SECTIONS = {
    "data": ("source", "table", "source_table", "version", "expected_rows"),
    "unit": ("kind", "id", *CAPS, "rows"),
    "budget": ("epsilon", "delta"),
    "ledger": ("path", "anchor"),
    "limits": ("memory", "seconds", "threads", "slots"),
    "allow": ("mechanisms",),
}
NEEDED = {"lookups": ("source", "key"), "tables": ("source",)}
BESIDE = {"lookups": (*NEEDED["lookups"], "columns"), "tables": (*NEEDED["tables"], *CAPS, "columns")}
COLUMN_TYPES: dict[str, tuple[Callable[..., Declared], tuple[str, ...]]] = {
    "int": (Int, ("lower", "upper", "private_bounds")),
    "float": (Float, ("lower", "upper", "private_bounds")),
    "date": (Date, ("lower", "upper")),
    "category": (Category, ("values",)),
    "text": (Text, ("longest",)),
    "identifier": (Identifier, ()),
}
TAKEN = {"row": (), "person": ("id", *CAPS), "up to": ("rows",)}  # what each kind of unit is declared by
UNIT_LINE = (
    'id = "user_id"  (with max_rows and max_groups), or kind = "row" when each row is somebody else, '
    'or kind = "up to" with rows = 36 when no column says whose the rows are'
)


@dataclass(frozen=True, slots=True)
class Policy:
    source: Path
    schema: Schema
    budget: Budget
    ledger: Path
    anchor: Path | None
    roles: Mapping[str, str]
    source_table: str | None
    limits: Limits
    version: str | None


def load_policy(path: Path) -> Policy:
    """Read a policy file, or say which line to mend."""
    name = path.name
    content = _read(path)
    for section in content:
        if section not in (*SECTIONS, "columns", *BESIDE):
            raise policy_unknown(name, "file", section, (*SECTIONS, "columns", *BESIDE))
    data = _section(content, "data", name)
    if "source" not in data:
        raise policy_lacks(name, "data", "source", 'source = "people.csv"')
    source = path.parent / str(data["source"])
    source = _file(source if source.name else source.resolve(), name, "[data] source", "people.csv")
    ledger = _section(content, "ledger", name)
    place = path.parent / str(ledger["path"]) if "path" in ledger else source.with_suffix(".ledger")
    anchor = path.parent / str(ledger["anchor"]) if "anchor" in ledger else None
    try:
        schema = Schema(
            table=str(data.get("table", source.stem)),
            unit=_unit(_section(content, "unit", name), name),
            columns=_columns(content.get("columns", {}), name),
            lookups=_lookups(content, path),
            tables=_tables(content, path),
            allow=_allow(_section(content, "allow", name), name),
            expected_rows=data.get("expected_rows"),
        )
    except SfumatoError as error:
        raise error if error.message.startswith(name) else policy_wrong(name, "the table", error) from None
    return Policy(
        source=source,
        schema=schema,
        budget=_budget(_section(content, "budget", name), name),
        ledger=_file(place, name, "[ledger] path", "people.ledger"),
        anchor=None if anchor is None else _file(anchor, name, "[ledger] anchor", "people.anchor"),
        roles=_roles(content.get("columns", {}), name),
        source_table=str(data["source_table"]) if "source_table" in data else None,
        limits=_limits(_section(content, "limits", name), name),
        version=_version(data, name),
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    except FileNotFoundError:
        raise policy_missing(str(path)) from None
    except (OSError, UnicodeDecodeError):
        raise file_unreadable(str(path), "it is not a text file in UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise policy_malformed(path.name, str(error)) from None
    except (ValueError, RecursionError):
        raise policy_malformed(path.name, "a number is too long or lists are nested too deep") from None


def _file(path: Path, name: str, where: str, example: str) -> Path:
    try:
        return as_path(path, where.split()[-1], example)
    except UsageError as error:
        raise policy_wrong(name, where, error) from None


def _version(data: Mapping[str, Any], name: str) -> str | None:
    version = data.get("version")
    try:
        check_version(version)
    except UsageError as error:
        raise policy_wrong(name, "[data]", error) from None
    return version


def _section(content: Mapping[str, Any], section: str, name: str) -> Mapping[str, Any]:
    found = content.get(section, {})
    if not isinstance(found, dict):
        raise policy_lacks(name, section, "its lines", f"[{section}]")
    for key in found:
        if key not in SECTIONS[section]:
            raise policy_unknown(name, section, key, SECTIONS[section])
    return found


def _unit(section: Mapping[str, Any], name: str) -> Unit:
    kind = str(section.get("kind", "person"))
    if kind not in TAKEN:
        raise policy_unknown(name, "unit", kind, TAKEN)
    if kind == "person" and "id" not in section:
        raise policy_lacks(name, "unit", "id", UNIT_LINE)
    for key in section:
        if key not in ("kind", *TAKEN[kind]):
            raise policy_wrong(name, "[unit]", not_of_kind(kind, key))
    if kind == "row":
        return Row()
    if kind == "up to":
        return _up_to(section, name)
    if "max_rows" not in section:
        raise policy_lacks(name, "unit", "max_rows", "max_rows = 20")
    try:
        return Person(str(section["id"]), **{name: section[name] for name in CAPS if name in section})
    except SfumatoError as error:
        raise policy_wrong(name, "[unit]", error) from None


def _up_to(section: Mapping[str, Any], name: str) -> UpTo:
    if "rows" not in section:
        raise policy_lacks(name, "unit", "rows", "rows = 36")
    try:
        return UpTo(section["rows"])
    except SfumatoError as error:
        raise policy_wrong(name, "[unit]", error) from None


def _budget(section: Mapping[str, Any], name: str) -> Budget:
    if "epsilon" not in section:
        raise policy_lacks(name, "budget", "epsilon", "epsilon = 3")
    try:
        return Budget(section["epsilon"], section.get("delta", 0))
    except SfumatoError as error:
        raise policy_wrong(name, "[budget]", error) from None


def _limits(section: Mapping[str, Any], name: str) -> Limits:
    try:
        return Limits(**section)
    except SfumatoError as error:
        raise policy_wrong(name, "[limits]", error) from None


def _allow(section: Mapping[str, Any], name: str) -> frozenset[Family]:
    """All mechanisms, unless the owner names those that may be used."""
    try:
        return check_allowed(section.get("mechanisms", FAMILIES))
    except SfumatoError as error:
        raise policy_wrong(name, "[allow] mechanisms", error) from None


def _columns(section: object, name: str) -> dict[str, Declared]:
    columns = {}
    for column, declaration in section.items() if isinstance(section, dict) else ():
        if not isinstance(declaration, dict) or "type" not in declaration:
            raise policy_lacks(name, f"columns.{column}", "type", f'{column} = {{ type = "text" }}')
        kind = declaration["type"]
        if not isinstance(kind, str) or kind not in COLUMN_TYPES:
            raise policy_unknown(name, f"columns.{column}", str(kind), COLUMN_TYPES)
        build, parameters = COLUMN_TYPES[kind]
        for parameter in declaration:
            if parameter not in ("type", "role", *parameters):
                raise policy_unknown(name, f"columns.{column}", parameter, ("type", "role", *parameters))
        if kind == "category" and "values" not in declaration:
            raise policy_lacks(
                name, f"columns.{column}", "values", f'{column} = {{ type = "category", values = ["a"] }}'
            )
        try:
            columns[column] = build(**{key: declaration[key] for key in parameters if key in declaration})
        except SfumatoError as error:
            raise policy_wrong(name, f"[columns] {column}", error) from None
    return columns


def _lookups(content: Mapping[str, Any], path: Path) -> dict[str, Lookup]:
    return {
        table: Lookup(path.parent / str(section["source"]), str(section["key"]), columns)
        for table, section, columns in _beside("lookups", content, path.name)
    }


def _tables(content: Mapping[str, Any], path: Path) -> dict[str, Table]:
    found = {}
    for table, section, columns in _beside("tables", content, path.name):
        caps = {name: section[name] for name in CAPS if name in section}
        try:
            found[table] = Table(path.parent / str(section["source"]), columns, **caps)
        except SfumatoError as error:
            raise policy_wrong(path.name, f"[tables.{table}]", error) from None
    return found


def _beside(
    kind: str, content: Mapping[str, Any], name: str
) -> Iterator[tuple[str, Mapping[str, Any], dict[str, Declared]]]:
    """The sections [lookups.x] or [tables.x], each with its columns."""
    found = content.get(kind, {})
    for table, section in found.items() if isinstance(found, dict) else ():
        where = f"{kind}.{table}"
        if not isinstance(section, dict):
            raise policy_lacks(name, where, "its lines", f"[{where}]")
        for key in section:
            if key not in BESIDE[kind]:
                raise policy_unknown(name, where, key, BESIDE[kind])
        for key in NEEDED[kind]:
            if key not in section:
                raise policy_lacks(name, where, key, f'{key} = "…"')
        yield table, section, _columns(section.get("columns", {}), name)


def _roles(section: Mapping[str, Mapping[str, Any]], name: str) -> dict[str, str]:
    """What the owner says a column is when the table is anonymised; an identifier needs no role."""
    roles = {}
    for column, declaration in section.items():
        role = declaration.get("role", "identifier" if declaration["type"] == "identifier" else None)
        if role is None:
            continue
        if role not in ROLES:
            raise policy_unknown(name, f"columns.{column}", str(role), ROLES)
        roles[column] = str(role)
    return roles
