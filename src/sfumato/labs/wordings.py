"""What the training complex says when it cannot go on."""

from collections.abc import Iterable

from sfumato.errors import DataUnreadable, MissingExtra, UsageError, did_you_mean, quoted


def unknown_language(code: str, known: Iterable[str]) -> UsageError:
    listed = list(known)
    return UsageError(
        f'there is no language "{code}".{did_you_mean(code, listed)}', f"The languages are {quoted(listed)}."
    )


def language_missing(lab: int, code: str, present: Iterable[str]) -> UsageError:
    return UsageError(f"lab {lab} is not written in {code} yet.", f"It is there in {quoted(present)}.")


def unknown_lab(number: object, known: Iterable[int]) -> UsageError:
    listed = sorted(known)
    near = ""
    if listed and isinstance(number, int):
        near = f" The nearest is {min(listed, key=lambda each: abs(each - number))}."
    return UsageError(
        f"there is no lab {number}.{near}", f"The labs are {quoted(map(str, listed))}: sfumato labs list."
    )


def no_lab_named(word: str, names: Iterable[str], known: Iterable[int]) -> UsageError:
    return UsageError(
        f'there is no lab "{word}".{did_you_mean(word, names)}',
        f"Name one of {quoted(map(str, sorted(known)))}: sfumato labs list.",
    )


def unknown_variant(lab: int, number: int, known: Iterable[int]) -> UsageError:
    listed = sorted(known)
    near = min(listed, key=lambda each: abs(each - number))
    return UsageError(
        f"lab {lab} has no variant {number}. The nearest is {near}.", f"Choose one of {quoted(map(str, listed))}."
    )


def no_constant(lab: str, name: str, known: Iterable[str]) -> UsageError:
    listed = list(known)
    return UsageError(
        f'the variants of {lab} have no "{name}".{did_you_mean(name, listed)}', f"They have {quoted(listed)}."
    )


def source_wrong(where: str, what: str) -> DataUnreadable:
    return DataUnreadable(f"{where}: {what}.", "docs/how-to/add-a-lab.md says how a lab is written.")


def no_text(key: str, code: str, known: Iterable[str]) -> DataUnreadable:
    return DataUnreadable(
        f'there is no text "{key}" in {code}.{did_you_mean(key, known)}', f"Add it to content/strings.{code}.toml."
    )


def text_lacks_value(key: str, code: str, name: str) -> DataUnreadable:
    return DataUnreadable(
        f'the text "{key}" in {code} speaks of {{{name}}}, and nobody said what that is.',
        "Give the value to words.text, or change the text.",
    )


def unknown_placeholder(name: str, where: str, known: Iterable[str]) -> DataUnreadable:
    listed = list(known)
    return DataUnreadable(
        f"{where}: nothing is known about {{{{{name}}}}}.{did_you_mean(name, listed)}",
        f"Known are {quoted(listed, 30)}.",
    )


def no_check(lab: str, task: str) -> DataUnreadable:
    return source_wrong(f"{lab}/checks.py", f"there is no check {task} that returns a Verdict")


def no_passport(folder: str) -> UsageError:
    return UsageError(
        f"there is no lab.json in {folder}.",
        "Open the notebook in the folder that was handed out or made by: sfumato labs start 2 --variant 3 --lang ru.",
    )


def wrong_passport() -> UsageError:
    return UsageError("lab.json beside the notebook is damaged.", "Take it from the hand-out again.")


def other_lab(number: object, found: object) -> UsageError:
    return UsageError(
        f"this is the notebook of lab {number}, and lab.json beside it belongs to lab {found}.",
        "Keep every lab in a folder of its own.",
    )


def no_task(door: str, task: str, near: str, tasks: Iterable[str]) -> UsageError:
    known = ", ".join(f"{door}.{name}()" for name in tasks)
    return UsageError(f'this lab has no task "{task}".{near}', f"Write one of {known}.")


def student_needs_pandas() -> MissingExtra:
    return MissingExtra("the labs need pandas.", 'Run: pip install "sfumato[labs]"')


def student_needs_matplotlib() -> MissingExtra:
    return MissingExtra("show needs matplotlib.", 'Run: pip install "sfumato[labs]"')
