"""What the question language says of functions and computed keys."""

from sfumato.errors import Refused


def too_large() -> Refused:
    return Refused("the question repeats itself too often inside itself.", "Ask it in a flatter form.")


def argument_wrong(call: str, needs: str) -> Refused:
    return Refused(f"{call} cannot be asked like this.", f"It needs {needs}.")


def keys_endless(text: str) -> Refused:
    return Refused(
        f"GROUP BY {text} has no public list of values.",
        "Group by BIN(x, width), a part of a date, or CASE with constants; its columns need bounds or values.",
    )
