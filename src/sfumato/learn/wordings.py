"""What learners say when they cannot go on. None of it depends on a row."""

import sys
from collections.abc import Iterable

from sfumato.errors import DataUnreadable, NotFittedError, Refused, UsageError, did_you_mean, quoted


def not_fitted(learner: str) -> NotFittedError:
    """Where scikit-learn is loaded, its own error too: its tools look for that."""
    theirs = sys.modules.get("sklearn.exceptions")
    kinds = (NotFittedError,) if theirs is None else (NotFittedError, theirs.NotFittedError)
    kind = type("NotFittedError", kinds, {"__module__": NotFittedError.__module__})
    error = kind(f"this {learner} has not learnt anything yet.", "Call fit(session) first, or sf.learn.load a model.")
    if not isinstance(error, NotFittedError):
        raise TypeError
    return error


def target_missing() -> UsageError:
    return UsageError("target is missing.", 'Say which column is to be predicted, e.g. target="income".')


def target_unusable(name: str) -> Refused:
    return Refused(
        f'"{name}" has no public list of classes.',
        "A target is a Category, or an Int with at most 32 values between its bounds. Declare it so.",
    )


def one_class(name: str) -> Refused:
    return Refused(
        f'"{name}" is declared with one value, so there is nothing to tell apart.',
        "List all values that it may have; whether rows have them does not matter.",
    )


def two_classes_only(learner: str, many: int) -> Refused:
    return Refused(
        f"{learner} tells two classes apart, and the target has {many}.",
        "Use NaiveBayes or Tree, or declare a column with two values.",
    )


def forest_of_unknown() -> UsageError:
    return UsageError(
        "a forest divides the rows among trees, and nobody said about how many there are.",
        "Say it, if it is public: expected_rows=30000. Or use Tree or Additive.",
    )


def forest_too_small(least: int) -> Refused:
    return Refused(
        f"epsilon times expected_rows is below {least:,}: too little to divide among trees.",
        "Use Tree or Additive, or spend more.",
    )


def learner_too_large(reason: str) -> Refused:
    return Refused(
        f"so many columns, cells or levels make too large a plan ({reason.rstrip('.')}).",
        "Name fewer columns, e.g. columns=[…], or a smaller depth. Nothing was charged.",
    )


def too_deep(wanted: int, most: int) -> Refused:
    return Refused(
        f"with depth={wanted} fitting or evaluating would make too large a plan for these columns.",
        f"Use depth={most} or less, or name fewer columns, e.g. columns=[…]. Nothing was charged.",
    )


def no_columns_to_learn(target: str) -> Refused:
    return Refused(
        f'beside "{target}" there is no column to learn from.',
        "Declare a Category, or numbers or dates with bounds; texts and identifiers are not learnt from.",
    )


def target_among_columns(target: str) -> UsageError:
    return UsageError(f'"{target}" is the target and among the columns as well.', "Leave it out of columns.")


def column_twice(name: str) -> UsageError:
    return UsageError(f'"{name}" is among the columns twice.', "Name it once.")


def column_of_texts(name: str) -> Refused:
    return Refused(
        f'"{name}" is free text, and its values are not public.',
        "Declare a Category, or list the other columns in columns=[…].",
    )


def column_without_use(name: str) -> Refused:
    return Refused(f'"{name}" names people, and nothing is learnt from names.', "Leave it out of columns.")


def column_unbounded(name: str) -> Refused:
    return Refused(
        f'"{name}" has no bounds, so its bins would come from the data.',
        f'Declare lower and upper; session.bounds("{name}", spend=…) helps to find them. Or list the other columns.',
    )


def columns_needed() -> UsageError:
    return UsageError(
        "fit(X, y) needs the bounds of every column: they are never read off X.",
        'Pass columns={"age": sf.Int(0, 120), …} with the target among them and ledger="….ledger", or fit a session.',
    )


def columns_not_list() -> UsageError:
    return UsageError(
        "columns must be a list of names.", 'E.g. columns=["age", "sex"]; what they are is declared with the table.'
    )


def target_not_given() -> UsageError:
    return UsageError(
        "fit(X, y) requires y to be passed, but the target y is None.", "Pass y, or have the target among X's columns."
    )


def shape_differs(given: int, expected: int) -> UsageError:
    """In scikit-learn's words, which its tools look for."""
    return UsageError(
        f"X has {given} features, but Sfumato is expecting {expected} features as input.",
        "Pass one column for each, in the declared order.",
    )


def row_without_columns() -> UsageError:
    return UsageError(
        "X is no table.", "Reshape your data: a data frame, an Arrow table, or an array of two dimensions."
    )


def sparse_table() -> UsageError:
    return UsageError("sparse input is not supported.", "Pass X.toarray(), or a data frame.")


def complex_table() -> UsageError:
    return UsageError("Complex data not supported.", "Pass real numbers.")


def parameter_unknown(name: str, known: Iterable[str]) -> UsageError:
    known = list(known)
    return UsageError(f"there is no parameter {name}.{did_you_mean(name, known)}", f"There are {quoted(known)}.")


def no_such_part(part: str, known: Iterable[str]) -> UsageError:
    return UsageError(f"the model has no {part} to draw.", f"There are {quoted(known)}.")


def column_lacking(name: str, present: Iterable[str]) -> UsageError:
    return UsageError(
        f'the table has no column "{name}".{did_you_mean(name, present)}',
        "A model needs all columns that it was fitted on; a missing value is fine.",
    )


def column_of_other_kind(name: str) -> UsageError:
    return UsageError(f'"{name}" is not of the kind that the model was fitted on.', "Convert it first.")


def questions_unordered(name: str) -> Refused:
    return Refused(
        f'the model asks of "{name}" for sets of values that have no order.', "No learner of Sfumato asks so; fit one."
    )


def features_differ(name: str) -> Refused:
    return Refused(
        f'"{name}" is declared otherwise than when the model was fitted.',
        "Evaluate it on a table that is declared alike, or fit it again.",
    )


def classes_differ(name: str) -> Refused:
    return Refused(
        f'"{name}" is declared with other classes than when the model was fitted.',
        "Evaluate it on a table that is declared alike, or fit it again.",
    )


def model_unreadable(path: str) -> DataUnreadable:
    return DataUnreadable(f"{path} is no model of Sfumato.", "Models are JSON files that model.save writes.")


def model_too_large(path: str, megabytes: int) -> DataUnreadable:
    return DataUnreadable(f"{path} is larger than {megabytes} MB.", "No model that model.save writes is.")


def model_newer(path: str) -> DataUnreadable:
    return DataUnreadable(f"{path} was written by a newer Sfumato.", "Install that version to read it.")


def model_unwritable(path: str, reason: str) -> UsageError:
    return UsageError(f"{path} cannot be written: {reason}.", "Choose another file.")
