"""What `sfumato.accounting` says when it cannot go on."""

from collections.abc import Iterable

from sfumato.errors import BudgetExceeded, Refused, UsageError, did_you_mean, quoted


def event_unknown(name: str, known: Iterable[str]) -> UsageError:
    known = list(known)
    return UsageError(
        f'accounting knows no mechanism "{name}".{did_you_mean(name, known)}',
        f'Name one of {quoted(known)}; any other epsilon-DP mechanism is ("pure", epsilon).',
    )


def event_malformed(shown: str) -> UsageError:
    return UsageError(
        f"{shown} is not an event.", 'Write a mechanism and its parameters, e.g. ("laplace", 0.1) or ("gaussian", 5).'
    )


def event_parameters(name: str, expected: str) -> UsageError:
    return UsageError(f'"{name}" takes {expected}.', f"Write e.g. {EXAMPLES.get(name, '(' + repr(name) + ', 0.1)')}.")


EXAMPLES = {
    "gaussian": '("gaussian", 5), noise of deviation 5 times the sensitivity',
    "zcdp": '("zcdp", 0.1)',
    "approximate": '("approximate", 1, 1e-6)',
    "geometric": '("geometric", 0.1), or ("geometric", 0.1, 3) for sensitivity 3',
    "discrete_gaussian": '("discrete_gaussian", 5), or ("discrete_gaussian", 5, 3) for sensitivity 3',
}


def no_events() -> UsageError:
    return UsageError("there is nothing to compose.", 'Pass at least one event, e.g. [("laplace", 0.1)] * 100.')


def delta_needed() -> UsageError:
    return UsageError(
        "delta must lie between 0 and 1 (both excluded).",
        "With delta = 0 there is one composition only: the epsilons of pure mechanisms add up.",
    )


def delta_used_up(own: str, delta: str) -> UsageError:
    return UsageError(
        f"the mechanisms themselves have delta {own} together, which leaves nothing of {delta}.",
        "Raise delta, or give the mechanisms smaller deltas.",
    )


def too_fine(name: str, limit: str) -> UsageError:
    return UsageError(
        f'"{name}" with these parameters has too many possible losses.',
        f'Keep {limit}, or use the coarser ("zcdp", rho).',
    )


def group_says_nothing() -> UsageError:
    return UsageError(
        "for a group of this size delta reaches 1, and the guarantee says nothing.",
        "Ask about a smaller group, or use zCDP or pure epsilon, which degrade gently.",
    )


def posterior_needs_pure() -> UsageError:
    return UsageError(
        "with delta > 0 no bound on the posterior holds for every answer: with probability up to delta "
        "an answer may tell everything.",
        "Leave delta out, or ask for membership_advantage(epsilon, delta), which averages over answers.",
    )


def partition_depends_on_data() -> Refused:
    return Refused(
        "a partition chosen from the data is no ground for parallel composition: one person can move the borders, "
        "and so change every part.",
        "Fix the parts in advance, or release the borders privately first, pay for that, and add the costs.",
    )


def parts_differ() -> UsageError:
    return UsageError(
        "the parts are priced in different currencies.",
        "Convert them to one: all pure, all zcdp, or all approximate.",
    )


def neighbours_unknown(shown: str) -> UsageError:
    return UsageError(f"neighbours={shown} is not known.", 'Say "add or remove" or "replace".')


def declaration_missing() -> UsageError:
    return UsageError(
        "fixed_in_advance must be True or False.",
        "Say True only if a rule that never looks at the data puts each record into its part.",
    )


def filter_refuses(what: str, left: str) -> BudgetExceeded:
    return BudgetExceeded(
        f"the filter refuses {what}; {left} is left.", "Ask for less. The filter stays as it is, and later grants hold."
    )


def limit_unusable() -> UsageError:
    return UsageError("the limit must be a sf.Budget.", "E.g. limit=sf.Budget(epsilon=3, delta=1e-6).")


def limit_too_small(questions: str) -> UsageError:
    return UsageError(
        f"the limit is too small for {questions} questions: no spend above 0 fits.", "Raise the limit, or ask less."
    )


def times_before_mechanism() -> UsageError:
    return UsageError("--times stands before any mechanism.", "Write it behind one: --laplace 0.1 --times 100.")


def times_not_whole(shown: str) -> UsageError:
    return UsageError(f"--times {shown} is not a whole number above 0.", "Write e.g. --times 100.")


def figure_without_plot(figure: str) -> UsageError:
    return UsageError(
        f"--figure {figure} says what to draw, and nothing says where.", f"Add a file, e.g. --plot {figure}.html."
    )


def figure_takes_one(figure: str, given: int) -> UsageError:
    return UsageError(f"--figure {figure} shows one epsilon, and {given} were given.", "Draw them one by one.")
