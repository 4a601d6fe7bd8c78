"""Events: what is read, what is refused, and what counts as the same."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

import sfumato as sf
from sfumato.accounting import Event, compose, event
from sfumato.accounting.events import MECHANISMS, plan
from sfumato.errors import SfumatoError, UsageError
from sfumato.kernel.cost import Cost
from sfumato.kernel.mechanisms.additive import Additive, DiscreteGaussian
from sfumato.kernel.mechanisms.choice import Exponential, FrequencyChoice, PermuteAndFlip
from sfumato.query.planned import planned
from sfumato.schema.table import Schema


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (("laplace", 0.1), Event("laplace", Fraction(1, 10))),
        (("gaussian", 5), Event("gaussian", Fraction(5))),
        (("geometric", "x"), None),
        (["pure", Decimal("0.3")], Event("pure", Fraction(3, 10))),
        (("discrete_laplace", 1), Event("geometric", Fraction(1), Fraction(1))),
        (("geometric", 1, 7), Event("geometric", Fraction(1), Fraction(7))),
        (("randomized_response", 1), Event("randomised_response", Fraction(1))),
        (("approximate", 1, 1e-6), Event("approximate", Fraction(1), Fraction(1, 10**6))),
        (("discrete_gaussian", 2.5, 3), Event("discrete_gaussian", Fraction(5, 2), Fraction(3))),
        (("zcdp", Fraction(1, 7)), Event("zcdp", Fraction(1, 7))),
    ],
)
def test_numbers_are_read_as_typed(given: object, expected: Event | None) -> None:
    if expected is None:
        with pytest.raises(UsageError):
            event(given)
        return
    assert event(given) == expected
    assert event(event(given)) is not None


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("laplace", "is not an event"),
        ((), "is not an event"),
        (3, "is not an event"),
        ((1, "laplace"), "is not an event"),
        (("lapplace", 1), 'Did you mean "laplace"'),
        (("laplace",), "takes one parameter"),
        (("laplace", 1, 2), "takes one parameter"),
        (("approximate", 1), "takes epsilon and delta"),
        (("approximate", 1, 1), "delta must lie between"),
        (("approximate", 1, -1e-9), "delta must lie between"),
        (("laplace", 0), "greater than 0"),
        (("laplace", -1), "greater than 0"),
        (("gaussian", 0), "sigma must be greater than 0"),
        (("zcdp", -1), "rho must be greater than 0"),
        (("laplace", True), "must be a number"),
        (("laplace", float("nan")), "finite"),
        (("laplace", float("inf")), "finite"),
        (("laplace", "0.1"), "must be a number"),
        (("geometric", 1, 0), "sensitivity must be"),
        (("geometric", 1, 1.5), "whole number"),
        (("geometric", 1, 2**21), "too many possible losses"),
        (("discrete_gaussian", 10**6), "too many possible losses"),
        ({"mechanism": "discrete_laplace"}, "this record of discrete_laplace is not an event"),
        ({"mechanism": "discrete_laplace", "scale": "0", "sensitivity": "1"}, "is not an event"),
        ({"mechanism": "discrete_laplace", "scale": "x", "sensitivity": "1"}, "is not an event"),
        ({"mechanism": "exponential", "epsilon": "-1"}, "is not an event"),
        ({"mechanism": "alchemy"}, "knows no mechanism"),
        ({}, "knows no mechanism"),
    ],
)
def test_what_is_refused_and_why(given: object, says: str) -> None:
    with pytest.raises(UsageError, match=None) as raised:
        event(given)
    assert says in str(raised.value)


def test_an_event_is_valid_or_does_not_exist() -> None:
    with pytest.raises(UsageError):
        Event("laplace", Fraction(1), Fraction(1, 2))
    with pytest.raises(UsageError):
        Event("geometric", Fraction(1), Fraction(1, 2))
    with pytest.raises(AttributeError):
        Event("laplace", Fraction(1)).amount = Fraction(0)  # type: ignore[misc]


def test_a_true_is_not_a_one_even_beside_a_one() -> None:
    assert plan([("laplace", 1), ("laplace", 1.0), ("laplace", Decimal(1))]) == ((Event("laplace", Fraction(1)), 3),)
    with pytest.raises(UsageError):
        plan([("laplace", 1), ("laplace", True)])


def test_equal_events_are_grouped_in_the_order_of_their_appearance() -> None:
    listed = plan([("laplace", 0.1), ("gaussian", 5), ("laplace", 0.1), ["laplace", Fraction(1, 10)]])
    assert [(str(found), count) for found, count in listed] == [("laplace(0.1)", 3), ("gaussian(5)", 1)]
    assert plan({("laplace", 0.1): 3, ("gaussian", 5): 1}) == listed
    assert plan(iter([("laplace", 0.1)] * 3 + [("gaussian", 5)])) == listed


@pytest.mark.parametrize("nothing", [[], {}, (), iter([])])
def test_nothing_cannot_be_composed(nothing: object) -> None:
    with pytest.raises(UsageError, match="nothing to compose"):
        plan(nothing)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", ["laplace", 3, None])
def test_what_is_no_list_is_refused(wrong: object) -> None:
    with pytest.raises(SfumatoError):
        plan(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "3"])
def test_how_often_is_a_whole_number(count: object) -> None:
    with pytest.raises(UsageError):
        plan({("laplace", 1): count})  # type: ignore[dict-item]


def test_records_of_a_ledger_are_events() -> None:
    """A vector's Laplace noise is priced as any mechanism of its ε, its Gaussian noise by its ρ."""
    epsilon, rho = Fraction(1, 10), Fraction(1, 50)
    laplace, gaussian = Additive.for_share(epsilon, "epsilon", 7, 49), Additive.for_share(rho, "rho", 7, 49)
    assert event(laplace.event()) == Event("pure", epsilon)
    assert 0 <= event(gaussian.event()).amount - rho <= Fraction(1, 2**128)
    assert event(Exponential(epsilon, Fraction(2)).event()) == Event("exponential", epsilon)
    assert event(PermuteAndFlip(epsilon, Fraction(2)).event()) == Event("permute_and_flip", epsilon)
    assert compose([laplace.event()] * 10).sequential == 1.0


@pytest.mark.parametrize("squared", [2, 5, 10**40 + 1])
def test_a_length_that_is_no_whole_number_is_read_exactly(squared: int) -> None:
    """From its square: no root is taken, so nothing but the last bit of the grid is above what was charged."""
    for rho in (Fraction(1, 50), Fraction(3, 7)):
        record = Additive.for_share(rho, "rho", squared, squared).event()
        assert (record["sensitivity_squared"], "sensitivity" in record) == (str(squared), False)
        assert 0 <= event(record).amount - rho <= Fraction(1, 2**128)
    old = DiscreteGaussian(Fraction(50)).event(4)
    assert old == {"mechanism": "discrete_gaussian", "variance": "50", "sensitivity": "2"}
    assert 0 <= event(old).amount - Fraction(1, 25) <= Fraction(1, 2**128)


def test_a_choice_whose_groups_share_rows_is_read_as_what_it_cost() -> None:
    shared = FrequencyChoice.for_share(Fraction(1, 50), "rho", 3, 5, 4)
    assert 0 <= event(shared.event()).amount - shared.cost("rho") <= Fraction(1, 2**128)
    whole = FrequencyChoice.for_share(Fraction(1, 50), "rho", 3, 9, 4)
    assert event(whole.event()) == Event("exponential", 3 * whole.law.epsilon)
    assert event(whole.event()).rho == whole.cost("rho")


@pytest.mark.parametrize(
    "record",
    [
        {"mechanism": "discrete_gaussian", "variance": "50"},
        {"mechanism": "discrete_gaussian", "variance": "50", "sensitivity_squared": "0"},
        {"mechanism": "discrete_gaussian", "variance": "50", "sensitivity_squared": "√5"},
        {"mechanism": "exponential", "epsilon": "1", "sensitivity_squared": "5"},
    ],
)
def test_a_record_without_its_sensitivity_is_refused(record: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        event(record)


@pytest.mark.parametrize(
    ("given", "rho"),
    [
        (("laplace", 0.2), Fraction(1, 50)),
        (("exponential", 0.2), Fraction(1, 200)),
        (("gaussian", 5), Fraction(1, 50)),
        (("discrete_gaussian", 5, 2), Fraction(4, 50)),
        (("zcdp", 0.3), Fraction(3, 10)),
        (("approximate", 0.2, 1e-9), Fraction(1, 50)),
    ],
)
def test_every_event_has_a_rho(given: tuple[object, ...], rho: Fraction) -> None:
    assert 0 <= event(given).rho - rho <= Fraction(1, 2**128)


def test_every_mechanism_can_be_composed_and_shown() -> None:
    for name in MECHANISMS:
        parameters = (0.5, 1e-9) if name == "approximate" else (0.5,)
        bounds = compose([(name, *parameters)] * 3)
        assert name in str(bounds)
        assert 0 < bounds.epsilon < 30


# ---- every record of the kernel


def certified_events(question: str, currency: str, unit: Any) -> list[tuple[Any, Fraction]]:
    """What a ledger keeps of a question's releases, each with its price in the currency."""
    columns = {"x": sf.Int(0, 9), "g": sf.Category(["a", "b"]), "free": sf.Text(), "wide": sf.Float(private_bounds=0.1)}
    schema = Schema("t", unit, columns)
    certified = planned(question, schema, Cost(currency, Fraction(1)), Fraction(1, 1000)).certified
    used = [release.mechanism for release in certified.releases]
    if certified.selection is not None:
        used.append(certified.selection)
    return [(mechanism.event(), mechanism.cost(currency)) for mechanism in used]


KERNEL_QUESTIONS = (
    "SELECT COUNT(*), SUM(x), MEDIAN(x), MODE(g), HISTOGRAM(x, 3), CDF(x, 4), SUM(wide) FROM t",
    "SELECT g, QUANTILE(x, 0.25), QUANTILE(x, 0.5), QUANTILE(x, 0.75), COUNT(DISTINCT x) FROM t GROUP BY g",
    "SELECT free, COUNT(*), MEDIAN(x) FROM t GROUP BY free",
    "SELECT free FROM t GROUP BY free",
)


@pytest.mark.parametrize("unit", [sf.Row(), sf.Person("who", 5, 2)], ids=["row", "person"])
@pytest.mark.parametrize("question", KERNEL_QUESTIONS)
def test_every_record_of_the_kernel_is_read_and_never_cheaper(question: str, unit: Any) -> None:
    currencies = ["rho"] if "free" in question else ["epsilon", "rho"]
    for currency in currencies:
        for record, price in certified_events(question, currency, unit):
            found = event(record)
            if currency == "rho":
                assert found.rho >= price, record
                assert found.rho <= price * (1 + Fraction(1, 10**9)), record
            elif found.epsilon is not None:
                assert found.epsilon == price, record


@pytest.mark.parametrize(
    "wrong",
    [
        *({"rows": "0"}, {"estimates": ""}, {"bars": "1, x"}, {"bars": "0"}, {"rows_squared": "-1"}, {"rows": None}),
        *({"counts": "1"}, {"bars": "", "counts": "0"}),
    ],
)
def test_a_record_of_ranks_that_is_none_is_refused(wrong: dict[str, Any]) -> None:
    record = {"mechanism": "rank_choice", "levels": "1/2", "rows": "2", "estimates": "1", "bars": "1"}
    with pytest.raises(UsageError, match="record of rank_choice"):
        event(record | wrong)
