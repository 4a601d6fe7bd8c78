"""The exact law of every client by exhaustion: what it loses is ε and no more; broken twins lose more."""

import types
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from math import comb, log, tanh
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.local import hashing, numbers, rappor, response, subset, unary
from sfumato.local.attributes import Attributes
from sfumato.local.domain import Domain
from sfumato.local.frequency import frequency
from sfumato.local.hashing import Hashing
from sfumato.local.mean import Mean
from sfumato.local.numbers import Duchi, Hybrid, Piecewise
from sfumato.local.rappor import Rappor
from sfumato.local.response import Response
from sfumato.local.subset import Subset
from sfumato.local.unary import Unary
from tests.kernel.laws import PRECISE, decimal, mutant
from tests.local.ideal import exact_law, loss, use_ideal_callees

F = Fraction
TINY = Decimal(10) ** -20
ONE = F(1)


def laws(scheme: Any, codes: range, bits: int = 0) -> list[dict[Any, Decimal]]:
    def drawn(code: int) -> Any:
        encoded = np.array([code], dtype=np.int64)
        return lambda tape: repr(scheme.payloads(scheme.draw(encoded, tape))[0])

    return [exact_law(drawn(code), bits) for code in codes]


ORACLES: list[tuple[Any, float]] = [
    (Response(3, ONE), 1.0),
    (Response(2, F(1, 10)), 0.1),
    (Response(2, None), log(3)),
    (Unary(3, ONE, optimised=False), 1.0),
    (Unary(3, ONE, optimised=True), 1.0),
    (Hashing(5, ONE, 2), 1.0),
    (Hashing(5, ONE, 3), 1.0),
    (Hashing(4, F(3, 2), 4), 1.5),
    (Subset(4, ONE, 1), 1.0),
    (Subset(5, ONE, 2), 1.0),
    (Subset(4, F(1, 2), 3), 0.5),
]


@pytest.mark.parametrize(("oracle", "epsilon"), ORACLES, ids=repr)
def test_the_loss_of_a_frequency_protocol_is_epsilon(
    oracle: Any, epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_ideal_callees(monkeypatch)
    found = laws(oracle, range(oracle.size), bits=oracle.size)
    assert float(loss(found)) == pytest.approx(epsilon, abs=1e-14)
    with localcontext(PRECISE):
        if isinstance(getattr(oracle, "epsilon", None), Fraction):
            assert abs(loss(found) - decimal(oracle.epsilon)) < TINY


@pytest.mark.parametrize(("oracle", "epsilon"), ORACLES, ids=repr)
def test_the_chances_of_support_are_those_of_the_estimator(
    oracle: Any, epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """keep for the own value, stray for every other one: then the estimate has no bias."""
    use_ideal_callees(monkeypatch)
    for code in range(oracle.size):
        supports = [Decimal(0)] * oracle.size

        def drawn(tape: Any, code: int = code) -> tuple[int, ...]:
            reports = oracle.draw(np.array([code], dtype=np.int64), tape)
            return tuple(oracle.supports(oracle.count(reports)).tolist())

        for values, mass in exact_law(drawn, oracle.size).items():
            for value, times in enumerate(values):
                supports[value] += times * mass
        for value, chance in enumerate(supports):
            assert float(chance) == pytest.approx(oracle.keep if value == code else oracle.stray, abs=1e-14)


def test_every_subset_is_as_likely_as_its_size_and_holder_say(monkeypatch: pytest.MonkeyPatch) -> None:
    use_ideal_callees(monkeypatch)
    (law, *_) = laws(Subset(5, ONE, 2), range(5))
    assert len(law) == comb(5, 2)
    assert len({round(float(mass), 14) for mass in law.values()}) == 2


# ---- numbers


@pytest.fixture
def few_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    use_ideal_callees(monkeypatch)
    monkeypatch.setattr(numbers, "CELLS", 8)


SHARES = [0, 1, 2, 3, 4]  # quarters of the range


@pytest.mark.parametrize("law", [Duchi(ONE), Piecewise(ONE), Piecewise(F(3)), Hybrid(F(2)), Hybrid(F(1, 2))], ids=repr)
@pytest.mark.usefixtures("few_cells")
def test_the_loss_of_a_number_is_epsilon_and_it_has_no_bias(law: Any) -> None:
    units = numbers.UNITS // 4
    found = []
    for share in SHARES:

        def drawn(tape: Any, share: int = share) -> Any:
            reports = law.draw(np.array([share * units], dtype=np.int64), tape)
            return repr(law.payloads(reports)[0]), float(law.decode(reports)[0])

        one = exact_law(drawn)
        found.append({report: mass for (report, _), mass in one.items()})
        mean = sum(float(mass) * decoded for (_, decoded), mass in one.items())
        assert mean == pytest.approx(share / 4, abs=1e-12)
        if isinstance(law, Duchi):
            spread = sum(float(mass) * (decoded - mean) ** 2 for (_, decoded), mass in one.items())
            assert spread == pytest.approx(law.variance(share / 4), rel=1e-12)
    with localcontext(PRECISE):
        assert abs(loss(found) - decimal(law.epsilon)) < TINY


@pytest.mark.parametrize(
    ("epsilon", "duchi", "piecewise", "hybrid", "laplace"),
    [(0.5, 16.7, 21.2, 16.7, 32), (1, 4.68, 5.22, 4.29, 8), (2, 1.72, 1.23, 1.04, 2), (4, 1.08, 0.24, 0.22, 0.5)],
)
def test_worst_variances_on_minus_one_to_one(
    epsilon: float, duchi: float, piecewise: float, hybrid: float, laplace: float
) -> None:
    for name, expected in (("duchi", duchi), ("piecewise", piecewise), ("hybrid", hybrid), ("laplace", laplace)):
        found = 4 * numbers.worst(numbers.LAWS[name](F(epsilon)))
        assert found == pytest.approx(expected, abs=0.6 * 10 ** -(1 if expected > 10 else 2))


# ---- RAPPOR and attributes


def small_rappor() -> Rappor:
    return Rappor(Domain(["a", "b"]), F(2), bits=8, hashes=1, cohorts=1)


def test_the_permanent_response_loses_epsilon_and_the_first_report_less(monkeypatch: pytest.MonkeyPatch) -> None:
    use_ideal_callees(monkeypatch)
    # Two bits of the filter decide; the others are the same for both values.
    monkeypatch.setattr(rappor, "_bloom", lambda *_: np.array([[[1], [2]]], dtype=np.uint8))
    scheme = small_rappor()
    for draw, epsilon in ((scheme.permanent, 2.0), (scheme.draw, scheme.first_report)):
        found = [
            exact_law(lambda tape, c=code, d=draw: repr(scheme.payloads(d(np.array([c]), tape))[0]), 2)
            for code in (0, 1)
        ]
        assert float(loss(found)) == pytest.approx(epsilon, rel=1e-9)
        assert float(loss(found)) <= epsilon + 1e-15
    assert scheme.first_report < 2


def attributes(way: str) -> Attributes:
    share = ONE if way == "sample" else F(1, 2)
    parts = (frequency("grr", Domain(["x", "y"]), share), Mean("duchi", share, F(0), F(1)))
    return Attributes(("word", "number"), parts, way, ONE)


@pytest.mark.parametrize("way", ["sample", "split"])
def test_a_row_of_attributes_loses_epsilon_in_both_ways(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    use_ideal_callees(monkeypatch)
    scheme = attributes(way)
    rows = [(word, number) for word in ("x", "y") for number in (0.0, 1.0)]
    found = [
        exact_law(
            lambda tape, w=word, n=number: repr(
                scheme.payloads(scheme.draw(scheme.encode({"word": [w], "number": [n]}), tape))[0]
            )
        )
        for word, number in rows
    ]
    assert float(loss(found)) == pytest.approx(1.0, abs=1e-14)


# ---- broken twins


TWINS: list[tuple[types.ModuleType, str, str, str, Any]] = [
    (response, "odds(self.size - 1, self.epsilon)", "odds(1, self.epsilon)", "Response", (4, ONE)),
    (response, "1 + below(others, len(codes), entropy) if others > 1 else 1", "1", "Response", (4, ONE)),
    (unary, "self.epsilon if self.optimised else self.epsilon / 2)", "self.epsilon)", "Unary", (3, ONE, False)),
    (
        unary,
        "Ratio(Fraction(1, 2)) if self.optimised else",
        "Ratio(Fraction(3, 4)) if self.optimised else",
        "Unary",
        (3, ONE, True),
    ),
    (unary, "packed.put(rows, codes, coins(", "packed.put(rows, codes, True | coins(", "Unary", (3, ONE, True)),
    (hashing, "odds(self.cells - 1, self.epsilon)", "odds(1, self.epsilon)", "Hashing", (5, ONE, 4)),
    (subset, "Fraction(self.size - self.chosen, self.chosen)", "Fraction(1)", "Subset", (5, ONE, 2)),
    (
        subset,
        "others[below(self.chosen, count, entropy), np.arange(count)]",
        "others[0, np.arange(count)]",
        "Subset",
        (5, ONE, 2),
    ),
]


@pytest.mark.parametrize(("module", "old", "new", "name", "given"), TWINS, ids=lambda one: str(one)[:40])
def test_twins_are_caught(
    module: types.ModuleType, old: str, new: str, name: str, given: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    twin = mutant(module, old, new)
    use_ideal_callees(monkeypatch, twin)
    oracle = getattr(twin, name)(*given)
    assert loss(laws(oracle, range(given[0]), bits=given[0])) > Decimal("1.01")


def test_a_piecewise_window_that_is_too_likely_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    twin = mutant(
        numbers,
        "inside = coins(odds(Fraction(CELLS - w, w), self.epsilon)",
        "inside = coins(odds(Fraction(CELLS - w, w), 2 * self.epsilon)",
    )
    use_ideal_callees(monkeypatch, twin)
    monkeypatch.setattr(twin, "CELLS", 8)
    law = twin.Piecewise(ONE)
    found = [
        exact_law(lambda tape, s=share: int(law.draw(np.array([s * twin.UNITS // 4]), tape)[0][0])) for share in SHARES
    ]
    assert loss(found) > Decimal("1.5")


@pytest.mark.parametrize("price", [F(1, 10**6), F(2, 3), F(7), F(40)])
@pytest.mark.parametrize("hashes", [1, 3])
def test_the_price_of_a_first_report_is_not_rounded_down(price: Fraction, hashes: int) -> None:
    """Reports that show the permanent bits as they are cost what these do; chances that nearly meet cost as little."""
    scheme = Rappor(Domain(["a", "b"]), price, hashes=hashes, p=F(0), q=F(1))
    assert price <= F(repr(scheme.first_report)) <= price * (1 + F(1, 10**15))
    close = replace(scheme, p=F(1, 2), q=F(1, 2) + F(1, 10**9))
    linear = 4 * hashes * 1e-9 * tanh(float(price) / 4 / hashes)  # around ½ the loss is 4 (q* - p*) a hash
    assert close.first_report == pytest.approx(linear, rel=1e-8)


def test_the_price_of_a_protocol_is_not_rounded_down() -> None:
    for price in (F(2, 3), F(1, 10), F(31, 11)):
        for made in (
            sf.local.protocol("grr", domain=["a", "b"], epsilon=price),
            sf.local.protocol("rappor", domain=["a", "b"], epsilon=price),
            sf.local.mean(lower=0, upper=1, epsilon=price),
            sf.local.attributes({"drink": ["tea", "coffee"], "age": (0, 100)}, epsilon=price),
        ):
            assert F(repr(made.epsilon)) >= price
