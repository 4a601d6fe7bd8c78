"""Judges: right answers pass, wrong ones fail and are named; both halves, with the rates that are claimed."""

import numpy as np
import pytest
from scipy import stats

from sfumato.audit import evidence
from sfumato.labs import judge, laws, privacy
from sfumato.labs.answers import InNotebook
from sfumato.labs.generators import Recording, generator
from sfumato.labs.verdict import StudentError, Verdict
from sfumato.labs.wire import packed, unpacked

B = 14.0


def drawing(draw, n=5000):
    return lambda seed: np.array([draw(rng) for rng in [generator(seed)] for _ in range(n)])


RIGHT = {
    "numpy": lambda rng: 3 + rng.laplace(0, B),
    "difference": lambda rng: 3 + rng.exponential(B) - rng.exponential(B),
    "inverse": lambda rng: 3 - B * np.sign(u := rng.random() - 0.5) * np.log1p(-2 * abs(u)),
}
WRONG = {
    "not_random": lambda rng: 3.0,
    "swapped_eps_delta": lambda rng: 3 + rng.laplace(0, 1 / B),
    "scale_too_small": lambda rng: 3 + rng.laplace(0, B / 1.5),
    "scale_too_large": lambda rng: 3 + rng.laplace(0, B * 1.5),
    "variance_for_scale": lambda rng: 3 + rng.laplace(0, B**0.5),
    "variance_for_scale_large": lambda rng: 3 + rng.laplace(0, B * B),
    "one_sided": lambda rng: 3 + rng.exponential(B),
    "biased": lambda rng: 5 + rng.laplace(0, B),
    "law_differs": lambda rng: 3 + rng.normal(0, B * 2**0.5),
}


@pytest.mark.parametrize("name", RIGHT)
def test_every_right_way_to_draw_passes(name):
    verdict = judge.law(drawing(RIGHT[name]), laws.laplace(3, B))
    assert verdict.passed
    assert verdict.p > judge.FALSE_ALARM


@pytest.mark.parametrize("name", WRONG)
def test_every_wrong_way_fails_and_is_named(name):
    verdict = judge.law(drawing(WRONG[name]), laws.laplace(3, B), {"swapped_eps_delta": 1 / B})
    assert (verdict.passed, verdict.code) == (False, name)


def test_the_factor_is_said_in_three_digits():
    verdict = judge.law(drawing(WRONG["swapped_eps_delta"]), laws.laplace(3, B), {"swapped_eps_delta": 1 / B})
    assert verdict.values["factor"] == 196


def test_a_law_fails_only_if_two_draws_do():
    seen = []

    def draw(seed):
        seen.append(seed)
        return np.zeros(100) if len(seen) == 1 else generator(seed).laplace(0, 1, 100)

    assert judge.law(draw, laws.laplace(0, 1)).passed
    assert len(set(seen)) == 2
    seen.clear()
    judge.law(lambda seed: seen.append(seed) or generator(seed).laplace(0, 1, 100), laws.laplace(0, 1))
    assert len(seen) == 1


def test_the_seeds_follow_the_student_and_the_task():
    with judge.seeded(5):
        first = judge.seeds()
    with judge.seeded(6):
        assert set(judge.seeds()).isdisjoint(first)


LAWS = {
    "laplace": (laws.laplace([0, 5], [1, 2]), lambda g: np.array([0, 5]) + g.laplace(0, [1, 2])),
    "gaussian": (laws.gaussian(2, 3), lambda g: g.normal(2, 3)),
    "gumbel": (laws.gumbel(0, 2), lambda g: g.gumbel(0, 2)),
    "exponential": (laws.exponential(2), lambda g: g.exponential(2)),
    "uniform": (laws.uniform(-1, 4), lambda g: g.uniform(-1, 4)),
    "gamma": (laws.gamma(2, 3), lambda g: g.gamma(2, 3)),
    "binomial": (laws.binomial([0.3, 0.75]), lambda g: g.random(2) < [0.3, 0.75]),
    "categories": (
        laws.categories(["a", "b", "c"], [0.2, 0.3, 0.5]),
        lambda g: g.choice(["a", "b", "c"], p=[0.2, 0.3, 0.5]),
    ),
    "numbers": (laws.categories([0, 1], [0.2, 0.8]), lambda g: int(g.random() < 0.8)),
    "mean": (laws.mean(0.5), lambda g: g.random()),
    "uncorrelated": (laws.uncorrelated(), lambda g: g.normal(size=3)),
    "bits": (laws.uncorrelated(), lambda g: g.random(4) < 0.2),
    "same": (laws.same_law(generator(1).laplace(size=3000)), lambda g: g.laplace()),
    "same_names": (laws.same_law(generator(1).choice(["x", "y"], 3000)), lambda g: g.choice(["x", "y"])),
    "continuous": (laws.continuous(stats.norm.cdf), lambda g: g.normal()),
}
ALTERED = {
    "laplace": lambda g: np.array([0, 5]) + g.laplace(0, [1, 3]),
    "gaussian": lambda g: g.normal(2, 3.6),
    "gumbel": lambda g: g.gumbel(0.7, 2),
    "exponential": lambda g: g.exponential(2.6),
    "uniform": lambda g: g.uniform(-1, 4.01),
    "gamma": lambda g: g.gamma(2.6, 3),
    "binomial": lambda g: g.random(2) < [0.3, 0.66],
    "categories": lambda g: g.choice(["a", "b", "c"], p=[0.3, 0.3, 0.4]),
    "numbers": lambda g: int(g.random() < 0.7),
    "mean": lambda g: g.random() + 0.05,
    "uncorrelated": lambda g: np.repeat(g.normal(), 3) + g.normal(size=3) * 2,
    "bits": lambda g: np.r_[g.random(3) < 0.2, [0]] if (z := g.random()) > 0.2 else np.r_[1, 1, g.random(2) < z],
    "same": lambda g: g.laplace() * 2,
    "same_names": lambda g: g.choice(["x", "y"], p=[0.4, 0.6]),
    "continuous": lambda g: g.normal() * 1.3,
}


@pytest.mark.parametrize("name", LAWS)
def test_a_law_accepts_its_own_draws_and_refuses_others(name):
    test, draw = LAWS[name]
    rng = generator(11)
    assert test(np.array([draw(rng) for _ in range(3000)])) > 1e-3
    assert test(np.array([ALTERED[name](rng) for _ in range(3000)])) < judge.FALSE_ALARM


@pytest.mark.parametrize("name", ["laplace", "gaussian", "binomial", "categories", "bits", "uncorrelated"])
def test_p_values_are_small_as_seldom_as_they_say(name):
    """At most a share of a is below a; 400 draws, six standard deviations."""
    test, draw = LAWS[name]
    rng = generator(12)
    p = np.array([test(np.array([draw(rng) for _ in range(150)])) for _ in range(400)])
    for a in (0.05, 0.2):
        assert np.mean(p <= a) < a + 6 * np.sqrt(a * (1 - a) / len(p))


def test_a_value_outside_the_range_is_named():
    with pytest.raises(StudentError, match="outside_range"):
        laws.categories(["a", "b"], [0.5, 0.5])(np.array(["a", "c"]))
    with pytest.raises(StudentError, match="outside_range"):
        laws.binomial(0.5)(np.array([0, 1, 2]))
    with pytest.raises(StudentError, match="outside_range"):
        laws.categories([0, 1], [0.5, 0.5])(np.array(["0", "1"]))


@pytest.mark.parametrize(
    ("got", "expected", "code"),
    [
        (1.0, 1, "passed"),
        (1 + 1e-12, 1, "passed"),
        (1.001, 1, "wrong_number"),
        (2, 1, "doubled"),
        (None, 1, "returned_nothing"),
        ("1", 1, "wrong_type"),
        ([1, 2], [1, 2], "passed"),
        ((1, 2), [1, 2], "passed"),
        (np.array([1.0, 2.0]), [1, 2], "passed"),
        ([1, 2, 3], [1, 2], "wrong_shape"),
        ([1, "2"], [1, 2], "wrong_number"),
        (3, [1, 2], "wrong_type"),
        ({"a": 1}, {"a": 1}, "passed"),
        ({"b": 1}, {"a": 1}, "wrong_shape"),
        (True, True, "passed"),
        (np.True_, True, "passed"),
        (0, True, "wrong_number"),
        ("x", "x", "passed"),
        ("y", "x", "wrong_number"),
        (float("nan"), 1, "wrong_number"),
        (float("nan"), float("nan"), "passed"),
        (float("inf"), float("inf"), "passed"),
        ([[1, 2], [3, 4]], [[1, 2], [3, 4]], "passed"),
        ([[1, 2], [3, 5]], [[1, 2], [3, 4]], "wrong_number"),
        ([(1, "a")], [(1, "a")], "passed"),
    ],
)
def test_exact(got, expected, code):
    assert judge.exact(got, expected, causes={"doubled": 2}).code == code


def test_between_and_all_of():
    assert judge.between(0.3, 0, 1).passed
    assert judge.between([0.3, 1.5], 0, 1).values["got"] == 1.5
    failed = Verdict(False, "x")
    assert judge.all_of(judge.PASSED, failed, Verdict(False, "y")) is failed
    assert judge.all_of(Verdict(True, "passed", p=0.4), Verdict(True, "passed", p=0.2)).p == 0.2


PAIRS = {
    "right": (lambda g, x: x + g.laplace(0, 1), True),
    "rounded": (lambda g, x: round(x + g.laplace(0, 1)), True),
    "clamped": (lambda g, x: min(max(x + g.laplace(0, 1), 0), 1), True),
    "half": (lambda g, x: x + g.laplace(0, 0.5), False),
    "gaussian": (lambda g, x: x + g.normal(0, 1), False),
    "uniform": (lambda g, x: x + g.uniform(-10, 10), False),
    "none": (lambda g, x: float(x), False),
    "name": (lambda g, x: "yes" if g.random() < (0.2 + 0.6 * x) else "no", False),
    "coin": (lambda g, x: "yes" if g.random() < (0.3 + 0.4 * x) else "no", True),
}


@pytest.mark.parametrize("name", PAIRS)
def test_the_audit_flags_what_is_not_private_and_nothing_else(name):
    draw, private = PAIRS[name]
    verdict = judge.audit(
        drawing(lambda rng: draw(rng, 0), 20000), drawing(lambda rng: draw(rng, 1), 20000), epsilon=1.0
    )
    assert verdict.passed is private
    if not private:
        assert verdict.values["epsilon"] > 1


def test_the_audits_bounds_are_those_of_the_package():
    for first, second in [(900, 100), (0, 5), (1000, 0), (500, 500)]:
        ours = privacy.epsilon_shown(first, second, 1000, 5e-7)
        assert ours == pytest.approx(evidence.epsilon_shown(first, second, 1000, 5e-7))


def test_useless_answers_fail():
    draw = drawing(lambda rng: 10 + rng.laplace(0, 4), 2000)
    assert judge.error(draw, 10, at_most=4).passed
    assert judge.error(draw, 10, at_most=2).code == "too_noisy"


def test_a_recording_generator_draws_the_same_and_notes_the_scale():
    plain, recording = generator(3), Recording(3)
    assert plain.laplace(1, 2) == recording.laplace(1, 2)
    assert plain.normal(size=3).tolist() == recording.normal(size=3).tolist()
    assert recording.asked == [("laplace", 1.0, 2.0), ("normal", 0.0, 1.0)]


def answers(source: str) -> InNotebook:
    functions = {"np": np}
    exec(source, functions)  # noqa: S102
    return InNotebook(functions, lambda key: None)


def test_what_a_student_may_return():
    cases = [1, 1.5, "a", None, True, [1, [2]], (1, 2), {"a": (1, 2), 3: None}]
    for case in cases:
        assert unpacked(packed(case)) == case
    back = unpacked(packed(np.arange(6).reshape(2, 3)))
    assert back.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert unpacked(packed(np.array(["a", "b"]))).tolist() == ["a", "b"]
    assert unpacked(packed(np.float64(2))) == 2.0


@pytest.mark.parametrize("bad", [object(), lambda: 0, {1, 2}, 1j, open])
def test_what_a_student_may_not_return(bad):
    with pytest.raises(StudentError):
        packed(bad)


@pytest.mark.parametrize(
    "hostile",
    [
        {"shape": [2], "kind": "float64", "bytes": "!!"},
        {"shape": [10**9], "kind": "float64", "bytes": "AAAA"},
        {"shape": [-1], "kind": "float64", "bytes": ""},
        {"shape": [1], "kind": "object", "bytes": "AAAAAAAAAAA="},
        {"dict": [[{"dict": []}, 1]]},
        {"dict": [1]},
        {"unknown": 1},
        {"tuple": 3},
        {"array": [[1], [1, 2]]},
    ],
)
def test_what_a_hostile_child_sends_is_refused(hostile):
    with pytest.raises(StudentError):
        unpacked(hostile)


def test_errors_of_a_student_are_verdicts():
    with pytest.raises(StudentError, match="not_yet"):
        answers("def f():\n    raise NotImplementedError").call("f")
    with pytest.raises(StudentError, match="missing"):
        answers("").call("f")
    with pytest.raises(StudentError) as caught:
        answers("def f():\n    return 1 / 0").call("f")
    assert caught.value.values["error"].startswith("ZeroDivisionError")
    with pytest.raises(StudentError, match="returned_nothing"):
        answers("def f(rng):\n    pass").draw("f", n=3, seed=1)
    with pytest.raises(StudentError, match="wrong_shape"):
        answers("def f(rng):\n    return [1] * int(rng.integers(1, 9))").draw("f", n=9, seed=1)


def test_a_number_of_thousands_of_digits_is_refused():
    with pytest.raises(StudentError, match="wrong_number"):
        packed(10**5000)
