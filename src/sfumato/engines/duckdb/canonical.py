"""The columns of a table in the types their declarations promise; what does not fit becomes NULL, never an error."""

from collections.abc import Mapping

from sfumato.engines.duckdb.cells import WHOLE_BELOW
from sfumato.engines.sql.phrases import quoted
from sfumato.engines.wordings import id_is_real, type_refused
from sfumato.errors import column_absent
from sfumato.schema.columns import LONGEST_TEXT, Category, Date, Declared, Float, Int, Text
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person

NARROW = {"TINYINT", "SMALLINT", "INTEGER", "UTINYINT", "USMALLINT", "UINTEGER"}
# Not UHUGEINT: compared with a negative number it would fail on single rows.
WHOLE = {*NARROW, "BIGINT", "UBIGINT", "HUGEINT"}
REAL = {"FLOAT", "DOUBLE"}
MOMENTS = {"TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"}
# Read by the clock of UTC, whatever clock this machine has.
ZONED = {"TIMESTAMP WITH TIME ZONE": "TIMESTAMP", "TIMESTAMPTZ_NS": "TIMESTAMP_NS"}
ALIKE = {"BOOLEAN", "VARCHAR", "JSON", "BLOB", "UUID", "DATE", "UHUGEINT", '"NULL"'}
WITH_A_TEXT = {*WHOLE, *REAL, *MOMENTS, *ZONED, *ALIKE}
BEGIN_WITH_A_TEXT = ("DECIMAL(", "ENUM(")
# Of these every cell is missing: no text that one row alone decides, or one that each library writes in its own way.
WITHOUT = {"TIME", "TIME WITH TIME ZONE", "TIME_NS", "INTERVAL"}
BEGIN_WITHOUT = ("STRUCT(", "MAP(")
TEXTUAL = ("VARCHAR", "JSON")
LAST = (1 << 63) - 1
MOST_LISTED = 1 << 64  # a category's whole numbers are below
FEWEST_SIGNS = 8
# Doubles hold all whole numbers of so many digits, and such powers of ten: their quotient is rounded once.
EXACT_DIGITS = 15
WITHOUT_EXPONENT = "1e-4"  # smaller numbers are written with one
# Bytes of a text, as hexadecimal digits (Unicode 16, table 3-7).
NEXT = "[89AB][0-9A-F]"
UTF8 = (
    f"([0-7][0-9A-F]|(C[2-9A-F]|D[0-9A-F]){NEXT}|E0[AB][0-9A-F]{NEXT}|E[1-9A-CEF]({NEXT}){{2}}|ED[89][0-9A-F]{NEXT}"
    f"|F0[9AB][0-9A-F]({NEXT}){{2}}|F[1-3]({NEXT}){{3}}|F48[0-9A-F]({NEXT}){{2}})*"
)
FIRST_MOMENT, LAST_MOMENT = "TIMESTAMP '0001-01-01'", "TIMESTAMP '9999-12-31 23:59:59.999999'"


def declared_columns(schema: Schema) -> dict[str, Declared | None]:
    """Every column that is read; the unit's id has no declared type."""
    declared: dict[str, Declared | None] = dict(schema.columns)
    if isinstance(schema.unit, Person):
        declared[schema.unit.id] = None
    return declared


def id_of_unit(schema: Schema) -> str | None:
    return schema.unit.id if isinstance(schema.unit, Person) else None


def is_known(physical: str) -> bool:
    """Whether a rule says how cells of a type are read, if only that they are missing. Any other refuses the table."""
    is_list = physical.endswith("]")
    return is_list or physical in WITH_A_TEXT | WITHOUT or physical.startswith(BEGIN_WITH_A_TEXT + BEGIN_WITHOUT)


def canonical_columns(schema: Schema, physical: Mapping[str, str]) -> str:
    """What stands between SELECT and FROM. Where ids are compared with those of other tables, they are texts.

    Claim: whether a table is refused here depends on the types of its declared columns alone, never on a cell.
    Needs: `physical` is what the engine calls the types of the source.
    Proof: `is_known` and REAL look at names of types. Ids of a real type are refused, because from 2^53 on such a
    column holds the ids of several people as one number, and one fraction or gap turns whole numbers into it.
    """
    columns = []
    for name, column in declared_columns(schema).items():
        if name not in physical:
            raise column_absent(name, physical)
        if not is_known(physical[name]):
            raise type_refused(name, physical[name].partition("(")[0])
        if column is None and physical[name] in REAL:
            raise id_is_real(name)
        written = _canonical(quoted(name), column, physical[name])
        if column is None and schema.tables:
            written = f"CAST({written} AS VARCHAR)"
        columns.append(f"{written} AS {quoted(name)}")
    return ", ".join(columns)


def doubtful_values(schema: Schema, physical: Mapping[str, str]) -> str | None:
    """Aggregates that read every value that might not be one, or None if there are only numbers: see `Scanned`.

    Not strlen: DuckDB takes that from the file without looking whether the text is one.
    """
    columns = [
        f"max(length(CAST({quoted(name)} AS VARCHAR)))"
        if any(kind in physical[name] for kind in TEXTUAL)
        else f"max(hash({_canonical(quoted(name), column, physical[name])}))"
        for name, column in declared_columns(schema).items()
        if physical[name] not in (*WHOLE, *REAL, "BOOLEAN")
    ]
    return ", ".join(columns) or None


def _canonical(name: str, column: Declared | None, physical: str) -> str:
    """Claim: total, and decided by the text of the cell alone (`engines.duckdb.cells`), whatever type its column has.

    So a column that has become one of doubles, because one value is missing, reads as it did. Shorter ways for some
    types give what the text would give. One type of result a declaration: engines hash the same number differently
    in different types.
    """
    if physical in ZONED:
        name, physical = _by_utc(name, physical), ZONED[physical]
    match column:
        case None:
            return _id(name, physical)
        case Category(values=values) if isinstance(values[0], bool):
            truth = name if physical == "BOOLEAN" else f"TRY_CAST({_short(_text(name, physical))} AS BOOLEAN)"
            return f"CAST({truth} AS VARCHAR)"
        case Category(values=values) if isinstance(values[0], int):
            if max(abs(int(value)) for value in values) <= LAST:
                return _whole(name, physical, "BIGINT")
            wide = _whole(name, physical, "HUGEINT")  # up to where no cast of any type fails
            return f"CASE WHEN {wide} BETWEEN {-MOST_LISTED} AND {MOST_LISTED} THEN {wide} END"
        case Category(values=values):
            most = max(len(str(value).encode()) for value in values)
            written = _text(name, physical, most)
            # Not cut, as other texts are: functions of it are given no more than the longest value (`sql.expressions`).
            return f"CASE WHEN strlen({written}) <= {most} THEN {written} END"
        case Int():
            return _clamped(name, physical)
        case Date() if physical == "DATE" or physical in MOMENTS:
            return _day(name, physical)
        case Date():
            return _day(_short(_text(name, physical)), "VARCHAR")
        case Float():
            return _real(name, physical)
        case Text(longest=longest):
            return _no_longer(_text(name, physical, longest), longest)
        case _:
            return _no_longer(_text(name, physical), LONGEST_TEXT)


def _by_utc(name: str, physical: str) -> str:
    """The clock's time. Near the ends of its type there is none, and a question that asked for it would fail."""
    by_utc = f"{name} AT TIME ZONE 'UTC'"
    if physical == "TIMESTAMPTZ_NS":  # ends in years where there always is one
        return f"({by_utc})"
    first, last = "TIMESTAMPTZ '0001-01-01 00:00:00+00'", "TIMESTAMPTZ '9999-12-31 23:59:59.999999+00'"
    return f"(CASE WHEN {name} BETWEEN {first} AND {last} THEN {by_utc} END)"


def _day(name: str, physical: str) -> str:
    """A day of the years 1 to 9999; anything else, infinity included, is NULL."""
    # Nanoseconds before 1970 are cast to the next day if they are its last; as a text they keep their own.
    plain = name if physical == "VARCHAR" or physical in MOMENTS - {"TIMESTAMP_NS"} else f"TRY_CAST({name} AS VARCHAR)"
    day = name if physical == "DATE" else f"TRY_CAST({plain} AS DATE)"
    return f"CASE WHEN {day} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN {day} END"


def _id(name: str, physical: str) -> str:
    """Whoever has no id, or one that is longer than a text may be, is nobody."""
    if physical in WHOLE or physical == "UUID":
        return name
    if physical == "JSON":
        return _no_longer(_json_id(name), LONGEST_TEXT)
    if _has_a_fraction(physical):  # as doubles those of several people are one
        return _no_longer(_digits(name, physical), LONGEST_TEXT)
    return _no_longer(_text(name, physical), LONGEST_TEXT)


def _clamped(name: str, physical: str) -> str:
    """A whole number of 64 bits, in that type: engines hash others otherwise. What is beyond goes to the end."""
    if physical == "BIGINT":
        return name
    if physical in NARROW:
        return f"CAST({name} AS BIGINT)"
    if physical in WHOLE:
        wide = f"CAST({name} AS HUGEINT)"
        ends = f"CASE WHEN {wide} < {-LAST - 1} THEN {-LAST - 1} WHEN {wide} > {LAST} THEN {LAST} ELSE {wide} END"
        return f"CAST({ends} AS BIGINT)"
    found, number = _whole(name, physical, "BIGINT"), _double(name, physical)
    if physical == "BOOLEAN":
        return found
    last = f"CASE WHEN {number} < 0 THEN {-LAST - 1} WHEN {number} <= CAST('Infinity' AS DOUBLE) THEN {LAST} END"
    return f"CAST(COALESCE({found}, {last}) AS BIGINT)"


def _whole(name: str, physical: str, kind: str) -> str:
    """Halves go to the even number; what does not fit is NULL."""
    if physical == kind:
        return name
    if physical in WHOLE or physical == "BOOLEAN":
        return f"TRY_CAST({name} AS {kind})"
    real = _double(name, physical)
    if physical in REAL:
        return f"TRY_CAST({real} AS {kind})"
    written = _short(_text(name, physical))
    # The cast of a text takes halves upwards, and more digits from it than a double has.
    is_real = f"abs({real}) < {WHOLE_BELOW} OR contains({written}, '.') OR contains(lower({written}), 'e')"
    number = f"CASE WHEN {is_real} THEN TRY_CAST({real} AS {kind}) ELSE TRY_CAST({written} AS {kind}) END"
    return f"COALESCE({number}, {_truth(written)})"


def _real(name: str, physical: str) -> str:
    real = _double(name, physical)
    if _is_number(physical):
        return real
    return f"COALESCE({real}, CAST({_truth(_short(_text(name, physical)))} AS DOUBLE))"


def _double(name: str, physical: str) -> str:
    if physical == "DOUBLE":
        return name
    return f"TRY_CAST({name if _is_number(physical) else _short(_text(name, physical))} AS DOUBLE)"


def _is_number(physical: str) -> bool:
    """Whether a cast to a double gives what the text of the number would give.

    Not of 128 bits, of which a cast makes two roundings; nor of decimals whose digits are more than a double's.
    """
    if physical.startswith("DECIMAL(") and not physical.endswith("]"):
        return int(physical.removeprefix("DECIMAL(").partition(",")[0]) <= EXACT_DIGITS
    return physical == "BOOLEAN" or physical in WHOLE - {"HUGEINT"} or physical in REAL


def _truth(written: str) -> str:
    return f"CASE lower({written}) WHEN 'true' THEN 1 WHEN 'false' THEN 0 END"


def _text(name: str, physical: str, longest: int = LONGEST_TEXT) -> str:
    """The same text for equal numbers, whatever type they have. Of JSON, texts longer than that are missing."""
    if physical == "VARCHAR":
        return name
    if physical.endswith("]"):  # a list: its type is made up from all rows
        return "CAST(NULL AS VARCHAR)"
    if physical in REAL:
        real = _double(name, physical)
        large = f"COALESCE(TRY_CAST(TRY_CAST({real} AS BIGNUM) AS VARCHAR), TRY_CAST({real} AS VARCHAR))"
        return (
            f"CASE WHEN isnan({real}) THEN NULL "
            f"WHEN abs({real}) < {WHOLE_BELOW} AND {real} = trunc({real}) "
            f"THEN TRY_CAST(TRY_CAST({real} AS BIGINT) AS VARCHAR) "
            f"WHEN abs({real}) >= {WHOLE_BELOW} THEN {large} "
            f"WHEN abs({real}) < {WITHOUT_EXPONENT} THEN {_small(real)} ELSE TRY_CAST({real} AS VARCHAR) END"
        )
    if physical == "BLOB":
        # What is no text is found out before it is decoded: where one cell fails, DuckDB takes all beside it once more.
        whole = f"CASE WHEN regexp_full_match(hex({name}), '{UTF8}') THEN decode({name}) END"
        return f"CASE WHEN octet_length({name}) <= {4 * longest} THEN {whole} END"
    if physical == "JSON":
        return _of_json(name, longest)
    if physical in MOMENTS or physical == "DATE":
        moment = f"TRY_CAST({name} AS TIMESTAMP)"
        # A day says the same in a column of days and in one of moments, which one row may make of it.
        shown = f"regexp_replace(TRY_CAST({name} AS VARCHAR), ' 00:00:00$', '')"
        return f"CASE WHEN {moment} BETWEEN {FIRST_MOMENT} AND {LAST_MOMENT} THEN {shown} END"
    if _has_a_fraction(physical):
        written = _digits(name, physical)
        if _is_number(physical):  # the double next to it has the same text
            return written
        real = _text(f"TRY_CAST({written} AS DOUBLE)", "DOUBLE")
        return f"CASE WHEN contains({written}, '.') THEN {real} ELSE {written} END"
    if physical in WITH_A_TEXT or physical.startswith(BEGIN_WITH_A_TEXT):
        return f"TRY_CAST({name} AS VARCHAR)"
    return "CAST(NULL AS VARCHAR)"


def _has_a_fraction(physical: str) -> bool:
    return physical.startswith("DECIMAL(") and not physical.endswith((",0)", "]"))


def _digits(name: str, physical: str) -> str:
    """All digits of a decimal that may have a fraction, and no zeros at its end."""
    precision, scale = physical.removeprefix("DECIMAL(").removesuffix(")").split(",")
    held = name
    if precision == scale:  # a cell from 1 on, which its type has no digits for, would be written as any bytes
        most = f"CAST('0.{'9' * int(scale)}' AS {physical})"
        held = f"CASE WHEN {name} BETWEEN -{most} AND {most} THEN {name} END"
    # Without a digit before the point where the type has none there.
    digits = f"regexp_replace(CAST({held} AS VARCHAR), '^(-?)[.]', '\\10.')"
    return f"rtrim(rtrim({digits}, '0'), '.')"


def _small(real: str) -> str:
    """The digits of a number near 0, and as many zeros before them as its exponent says: decimals are written so."""
    written = f"TRY_CAST({real} AS VARCHAR)"
    digits = f"replace(regexp_extract({written}, '([0-9.]+)e', 1), '.', '')"
    zeros = f"repeat('0', TRY_CAST(regexp_extract({written}, 'e-([0-9]+)', 1) AS BIGINT) - 1)"
    return f"CASE WHEN {real} < 0 THEN '-0.' ELSE '0.' END || {zeros} || {digits}"


def _of_json(name: str, longest: int = LONGEST_TEXT) -> str:
    """What the cell holds would say in a column of its own: one row may have made all of them JSON.

    Lists and structures are missing there, and so is what is no JSON, which not every source looks for.
    """
    valid = _valid_json(name, longest)
    held = f"json_extract_string({valid}, '$')"
    real = _text(f"TRY_CAST({held} AS DOUBLE)", "DOUBLE")
    return (
        f"CASE json_type({valid}) WHEN 'DOUBLE' THEN {real} "
        f"WHEN 'OBJECT' THEN NULL WHEN 'ARRAY' THEN NULL ELSE {held} END"
    )


def _json_id(name: str) -> str:
    """Of a number its own digits: as doubles those of several people are one. One with a point is nobody's id."""
    valid = _valid_json(name, LONGEST_TEXT)
    digits = f"trim(CAST({valid} AS VARCHAR), ' \t\n\r')"
    whole = f"CASE WHEN regexp_full_match({digits}, '-?[0-9]+') THEN {digits} END"
    return f"CASE WHEN json_type({valid}) = 'DOUBLE' THEN {whole} ELSE {_of_json(name)} END"


def _valid_json(name: str, longest: int) -> str:
    """Functions of JSON fail on anything else, TRY or not, and read all of it: its bytes are counted first.

    In JSON a sign may take twelve of them (a pair of \\u0000), a number more than it has digits, and a text stands in
    quotes.
    """
    valid = f"CASE WHEN json_valid({name}) THEN {name} END"
    return f"CASE WHEN strlen(CAST({name} AS VARCHAR)) <= {12 * max(longest, FEWEST_SIGNS) + 2} THEN {valid} END"


def _short(written: str) -> str:
    """What is to become a number or a day: no such text is long, and to find out costs no more than to look."""
    return f"CASE WHEN strlen({written}) <= {LONGEST_TEXT} THEN {_cut(written, LONGEST_TEXT)} END"


def _no_longer(written: str, longest: int) -> str:
    """A text, or NULL for one that has more signs than that. Its bytes are counted first, which takes no time."""
    cut = _cut(written, longest)
    return (
        f"CASE WHEN strlen({written}) > {4 * longest} THEN NULL "
        f"WHEN strlen({written}) <= {longest} THEN {cut} WHEN length({written}) <= {longest} THEN {cut} END"
    )


def _cut(written: str, longest: int) -> str:
    """A text that is no longer than that, as it is; of a longer one the beginning.

    Where a file keeps each text once, in a dictionary, DuckDB works on all of it, whichever rows are meant: also on a
    text that no row may show. So that one is cut there as well.
    """
    return f"substring({written}, 1, {longest})"
