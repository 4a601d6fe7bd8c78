"""What a check says of an answer: passed or not, and why, as a code with values that words are made from later."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Value: TypeAlias = float | int | str

# Every code that a check may give without words of its own lab; strings.*.toml [verdict] has one line for each.
CODES = (
    "passed",
    "not_yet",
    "wrong_number",
    "wrong_type",
    "wrong_shape",
    "returned_nothing",
    "not_finite",
    "not_random",
    "not_repeatable",
    "scale_too_small",
    "scale_too_large",
    "swapped_eps_delta",
    "swapped_eps_delta_large",
    "variance_for_scale",
    "variance_for_scale_large",
    "one_sided",
    "biased",
    "correlated",
    "outside_range",
    "law_differs",
    "not_private",
    "too_noisy",
    "raised",
    "timeout",
    "memory",
    "missing",
    "stopped",
    "too_long",
    "unreadable",
    "unsafe_answer",
    "check_failed",
    "foreign",
    "other_lab",
)


@dataclass(frozen=True)
class Verdict:
    """`code` names the words, `values` fill them, `p` is the p-value where a law was tested."""

    passed: bool
    code: str
    values: Mapping[str, Value] = field(default_factory=dict)
    p: float | None = None


class StudentError(Exception):
    """The student's code raised, ran too long or returned what no answer is: a verdict, not a fault of ours."""

    def __init__(self, code: str, values: Mapping[str, Value] | None = None) -> None:
        super().__init__(code)
        self.code, self.values = code, dict(values or {})

    @property
    def verdict(self) -> Verdict:
        return Verdict(False, self.code, self.values)


PASSED = Verdict(True, "passed")
