"""What `sfumato.noise` says when it cannot go on. No wording shows a value that noise was meant for."""

from collections.abc import Iterable

from sfumato.errors import UsageError, did_you_mean, quoted


def value_unknown(kind: str) -> UsageError:
    return UsageError(
        f"noise cannot be added to a {kind}.", "Pass a number, a flat list of numbers or a NumPy array of numbers."
    )


def value_empty() -> UsageError:
    return UsageError("there is no number to add noise to.", "Pass at least one number.")


def value_not_finite() -> UsageError:
    return UsageError(
        "a value is infinite, not a number, or too large for a double.",
        "Clamp the data to finite bounds before you add it up; the sensitivity rests on these bounds.",
    )


def value_not_whole() -> UsageError:
    return UsageError(
        "geometric noise is for whole numbers, and a value is of another type.",
        "Pass int or an integer array, or use laplace, which takes real numbers.",
    )


def sensitivity_not_whole(shown: str) -> UsageError:
    return UsageError(
        f"the sensitivity of whole numbers is a whole number, not {shown}.",
        "Round it up, or use laplace, which takes any sensitivity.",
    )


def mechanism_unknown(name: str, known: Iterable[str]) -> UsageError:
    known = list(known)
    return UsageError(f'there is no mechanism "{name}".{did_you_mean(name, known)}', f"Name one of {quoted(known)}.")


def delta_without_use(mechanism: str) -> UsageError:
    return UsageError(f"{mechanism} takes neither delta nor rho: its guarantee is pure epsilon.", "Leave them out.")


def gaussian_needs_price() -> UsageError:
    return UsageError(
        "gaussian needs a price: epsilon and delta, or rho.", "Say how much, e.g. epsilon=1, delta=1e-6, or rho=0.1."
    )


def gaussian_needs_delta() -> UsageError:
    return UsageError(
        "gaussian noise gives no pure epsilon guarantee, and delta is missing.",
        "Add e.g. delta=1e-6 (far below one in the number of people), or use laplace.",
    )


def gaussian_two_prices() -> UsageError:
    return UsageError("rho was given together with epsilon or delta.", "Give epsilon and delta, or rho alone.")


def epsilon_too_small(shown: str) -> UsageError:
    return UsageError(f"epsilon={shown} with this delta buys no vector of gaussian noise.", "Raise epsilon.")


def delta_suffices() -> UsageError:
    return UsageError(
        "delta alone, with almost no epsilon, pays for this error already.",
        "Lower delta (far below one in the number of people), or ask for a smaller error.",
    )


def error_too_small() -> UsageError:
    return UsageError(
        "so small an error lies below the grid on which noise is drawn.",
        "Ask for an error above a thousandth of the sensitivity; below that nobody is protected.",
    )


def candidates_unusable(kind: str) -> UsageError:
    return UsageError(
        f"candidates must be a list or another sequence with a fixed order, not a {kind}.", "Pass e.g. sorted(names)."
    )


def candidates_empty() -> UsageError:
    return UsageError("there is no candidate to choose.", "Pass at least one candidate and its score.")


def scores_do_not_match(candidates: int, scores: int) -> UsageError:
    return UsageError(f"there are {candidates} candidates and {scores} scores.", "Pass one score per candidate.")


def scores_unusable() -> UsageError:
    return UsageError(
        "scores must be a list or a one-dimensional array of finite numbers.", "Leave out booleans, texts and NaN."
    )


def scores_too_large() -> UsageError:
    return UsageError(
        "these scores cannot be held exactly in 64 bits.",
        "Scale scores and sensitivity down together; only their ratio matters.",
    )


def score_missing() -> UsageError:
    return UsageError(
        "a candidate lacks its name or a score that is a number.", "Write name=score, e.g. --candidate tea=17."
    )


def monotone_not_boolean() -> UsageError:
    return UsageError(
        "monotone must be True or False.", "Say monotone=True only if one person moves all scores in one direction."
    )


def staircase_single() -> UsageError:
    return UsageError(
        "staircase noise is for one number: on several, one person could cross an edge of the stairs in each.",
        "Use laplace for a list or an array, or call staircase for each number with its share of epsilon.",
    )


def answers_empty() -> UsageError:
    return UsageError("there is no answer to randomise.", "Pass at least one.")


def answer_not_boolean() -> UsageError:
    return UsageError(
        "randomised response takes True or False, or members of the categories you list.",
        'Pass booleans, or say which answers exist, e.g. categories=["tea", "coffee", "water"].',
    )


def answer_unknown() -> UsageError:
    return UsageError(
        "an answer is not one of the categories.",
        "List every possible answer in categories before you look at the data, e.g. with one called other.",
    )


def categories_unusable() -> UsageError:
    return UsageError(
        "categories must be a list of two or more texts, numbers or other fixed values.",
        'Write e.g. categories=["tea", "coffee", "water"].',
    )


def categories_repeated() -> UsageError:
    return UsageError("a category is listed twice.", "List every category once.")


def stream_unusable() -> UsageError:
    return UsageError(
        "values must be a list, a one-dimensional array or an iterator of numbers.", "Pass e.g. [12, 7, 31]."
    )


def stream_forked() -> UsageError:
    return UsageError(
        "this stream of answers was begun in another process: both would go on with the same noise.",
        "Take the answers where the stream was begun, or begin a new one, which costs epsilon again.",
    )


def classical_outside_proof(shown: str) -> UsageError:
    return UsageError(
        f"the classical Gaussian bound is proved for epsilon below 1 only, not for {shown}.",
        "Use analytic_gaussian_deviation, which is exact for every epsilon and never larger below 1.",
    )
