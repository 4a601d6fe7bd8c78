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
        "A target is a Category, or an Int with at most 32 values between its bounds; of Additive and Tree also a "
        "number with bounds. Declare it so.",
    )


def one_class(name: str) -> Refused:
    return Refused(
        f'"{name}" is declared with one value, so there is nothing to tell apart.',
        "List all values that it may have; whether rows have them does not matter.",
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


def too_many_centres(wanted: int, columns: int, most: int) -> Refused:
    fewer = f"Use k={most} or less, or name" if most > 0 else "Name"
    return Refused(
        f"with k={wanted} and {columns} columns fitting would make too large a plan.",
        f"{fewer} fewer columns, e.g. columns=[…]. Nothing was charged.",
    )


def too_deep(wanted: int, most: int) -> Refused:
    return Refused(
        f"with depth={wanted} fitting or evaluating would make too large a plan for these columns.",
        f"Use depth={most} or less, or name fewer columns, e.g. columns=[…]. Nothing was charged.",
    )


def no_columns_to_learn(target: str) -> Refused:
    beside = f'beside "{target}" ' if target else ""
    return Refused(
        f"{beside}there is no column to learn from.",
        "Declare a Category, or numbers or dates with bounds; texts and identifiers are not learnt from.",
    )


def target_no_number(name: str) -> Refused:
    return Refused(
        f'"{name}" is no number.',
        "A target of this learner is an Int or a Float with bounds; for classes use Additive, NaiveBayes or Tree.",
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


def column_of_no_number(name: str) -> Refused:
    return Refused(f'"{name}" is a Category, and this learner takes numbers and dates.', "Leave it out of columns.")


def column_of_one_value(name: str) -> Refused:
    return Refused(
        f'"{name}" is declared with one value, so there is nothing to learn from it.', "Leave it out of columns."
    )


def too_many_values(name: str, many: int, most: int) -> Refused:
    return Refused(
        f'"{name}" is declared with {many:,} values, and a plan can tell {most:,} apart.',
        "Leave it out of columns, or declare a column with fewer values, such as a region in place of an address.",
    )


def column_unbounded(name: str) -> Refused:
    return Refused(
        f'"{name}" has no bounds, so its bins would come from the data.',
        f'Declare lower and upper; session.bounds("{name}", spend=…) helps to find them. Or list the other columns.',
    )


def bounds_too_near(name: str) -> Refused:
    return Refused(
        f'the bounds of "{name}" are so near to each other, for numbers so far from 0, that doubles do not tell what '
        "lies between them apart.",
        "Subtract a public number from the column first, e.g. its lower bound, and declare what is left; or leave it "
        "out of columns. Nothing was charged.",
    )


def columns_needed(*, target: bool = True) -> UsageError:
    call, among = ("fit(X, y)", " with the target among them") if target else ("fit(X)", "")
    return UsageError(
        f"{call} needs the bounds of every column: they are never read off X.",
        f'Pass columns={{"age": sf.Int(0, 120), …}}{among} and ledger="….ledger", or fit a session.',
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


def nothing_to_evaluate(learner: str) -> UsageError:
    return UsageError(
        f"{learner} tells no classes apart, so there is no accuracy to measure.",
        "Ask the session what you want to know of its rows, or measure on rows of your own.",
    )


def no_classes(target: str) -> UsageError:
    return UsageError(f'"{target}" is a number and has no classes.', "Call predict: it gives numbers.")


def nothing_to_predict(learner: str) -> UsageError:
    return UsageError(f"{learner} says nothing of single rows.", "Read its card: model.card_, or sfumato card.")


def no_sql(learner: str) -> UsageError:
    return UsageError(
        f"{learner} says nothing of single rows, so there is no SQL of it.", "Read its card, or its file."
    )


def too_many_coefficients(many: int, most: int) -> Refused:
    return Refused(
        f"these columns have {many} coefficients, and a linear model has at most {most}: listed values count each.",
        "Name fewer columns, e.g. columns=[…], or use Additive or Tree. Nothing was charged.",
    )


def too_few_numbers(many: int, most: int) -> Refused:
    return Refused(
        f"there {'is 1 column' if many == 1 else f'are {many} columns'} of numbers or dates, and 2 to {most} can be "
        "compared.",
        "Name them, e.g. columns=[…]. Nothing was charged.",
    )


def too_many_components(wanted: int, most: int) -> UsageError:
    return UsageError(f"k={wanted} components of {most} columns: there are no more than columns.", f"Use k={most}.")


def nothing_in_sql(what: str) -> UsageError:
    return UsageError(f"{what} says nothing of single rows, so there is no SQL of it.", "Read its card: model.card_.")


def sql_too_large(megabytes: int) -> UsageError:
    return UsageError(
        f"the SQL of this model would be longer than {megabytes} MB.",
        "Use predict, or fit a model of fewer columns, classes or levels.",
    )


def rows_of_no_kind(path: str) -> UsageError:
    return UsageError(f"{path} is neither .parquet nor .csv.", "Name the file of rows e.g. synthetic.parquet.")


def parameter_unknown(name: str, known: Iterable[str]) -> UsageError:
    known = list(known)
    return UsageError(f"there is no parameter {name}.{did_you_mean(name, known)}", f"There are {quoted(known)}.")


def no_such_axes(axes: str, known: Iterable[str]) -> UsageError:
    return UsageError(f"a map has two columns of the model as its axes, not {axes}.", f"There are {quoted(known)}.")


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


def model_would_be_too_large(megabytes: int) -> Refused:
    return Refused(
        f"the file of a model of so many classes, columns and cells could be larger than {megabytes} MB.",
        "Name fewer columns, e.g. columns=[…], declare fewer values, or say a smaller depth. Nothing was charged.",
    )


def model_not_written(megabytes: int) -> UsageError:
    return UsageError(
        f"the file of this model would be larger than {megabytes} MB, and none is read.",
        "It predicts as it is; fit a model of fewer columns, classes or values to keep it.",
    )


def model_newer(path: str) -> DataUnreadable:
    return DataUnreadable(f"{path} was written by a newer Sfumato.", "Install that version to read it.")


def model_unwritable(path: str, reason: str) -> UsageError:
    return UsageError(f"{path} cannot be written: {reason}.", "Choose another file.")
