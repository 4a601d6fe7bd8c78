"""What the commands say: of their arguments, and of tables and declarations to their owner."""

from pathlib import PurePath

from sfumato.errors import SPREADSHEETS, UsageError

OWNERS_EYES = (
    "For the owner's eyes only: exact counts, without noise. Nothing is spent, and nothing of this may be published."
)
NO_ROWS = "there are no rows."
# What to do where no cell fits, by what is declared.
CURES = {
    "int": 'If these are no whole numbers, declare what they are: type = "float", "date", "category" or "text".',
    "float": 'If these are no numbers, declare what they are: type = "date", "category" or "text".',
    "date": 'Dates are written 2024-01-31. If these are none, declare them as type = "text".',
    "category": "Values count as they are spelt: compare the list with the file, capitals and blanks included.",
    "text": "They are longer than this text may be: raise longest.",
    "identifier": "",
}
MENDABLE = {
    "int": "with a comma (12,5 or 1,234): write them as 12.5 and 1234",
    "float": "with a comma (12,5 or 1,234): write them as 12.5 and 1234",
    "date": "like 31.01.2024: write them as 2024-01-31",
    "category": "in the list but for capitals and blanks: spell both alike",
}


def policy_exists(path: str) -> UsageError:
    return UsageError(f"{path} exists already.", "Name another file with --output, or pass --force to overwrite it.")


def static_without_page() -> UsageError:
    return UsageError(
        "--static draws the plots of a page, and no page is written.",
        "Name an .html file, e.g. --output answer.html --static; a plot alone is small as .svg: --plot bounds.svg.",
    )


def ending_unknown(path: str) -> UsageError:
    ending = PurePath(path).suffix
    meant = " Spreadsheets open .csv." if ending.lower() in (*SPREADSHEETS, ".tsv") else ""
    return UsageError(
        f"{path} ends in {ending}, and nothing like that is written.",
        "Let it end in .csv, .json or .txt, or, where --format knows them, in .html, .md or .geojson; what --format "
        f"says counts more than an ending.{meant}",
    )


def none_there() -> str:
    return "no cell is there. Does the column hold lists or lengths of time, which are not read, or nothing at all?"


def none_fits(there: int, kind: str, mendable: int) -> str:
    return _sentences(f"NONE of {there:,} fits: every answer about it is noise.", _cure(kind, mendable) or CURES[kind])


def some_do_not_fit(unfit: int, there: int, kind: str, mendable: int) -> str:
    what = {"category": "none of the declared values", "text": "longer than this text may be"}
    said = what.get(kind, f"not read as {kind}, and left out")
    return _sentences(f"of {there:,} cells, {unfit:,} {_are(unfit)} {said}.", _cure(kind, mendable))


def many_beyond(below: int, above: int, fit: int) -> str:
    return f"of {fit:,} cells, {below:,} below and {above:,} above the bounds count as the bound: is that meant?"


def no_people(column: str) -> str:
    return f'no cell of the id "{column}" can be read: everybody is left out of every answer.'


def rows_of_nobody(column: str, count: int) -> str:
    return f'{count:,} without an id in "{column}" that can be read, left out of everything.'


def people_beyond(what: str, beyond: int, of: int, default: int, too_many: int, ceiling: int) -> str:
    return (
        f"of {of:,} people, {beyond:,} {_have(beyond)} more {what} than the {default} that count by default, and "
        f"{too_many:,} more than the {ceiling} that may count at all; what is more is cut off."
    )


def _cure(kind: str, mendable: int) -> str:
    return f"Of them, {mendable:,} {MENDABLE[kind]}." if mendable else ""


def _sentences(*parts: str) -> str:
    return " ".join(filter(None, parts))


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _have(count: int) -> str:
    return "has" if count == 1 else "have"
