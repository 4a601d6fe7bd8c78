"""The doors: a protocol by name, from a specification, or the best one."""

import re
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from sfumato.errors import SfumatoError
from sfumato.local import frequency as frequencies
from sfumato.local import mean as means
from sfumato.local.attributes import Attributes
from sfumato.local.domain import Domain
from sfumato.local.frequency import MAKERS, Frequency, frequency
from sfumato.local.hitters import Hitters
from sfumato.local.mean import Mean
from sfumato.local.numbers import LAWS
from sfumato.local.oracle import variance
from sfumato.local.protocol import Protocol, read_spec
from sfumato.local.rappor import Rappor
from sfumato.local.scheme import VERSION, Scheme, fingerprint
from sfumato.local.wordings import (
    attributes_unusable,
    bounds_unusable,
    epsilon_missing,
    epsilon_too_large,
    epsilon_too_small,
    option_unknown,
    protocol_unknown,
    spec_unusable,
)
from sfumato.schema.numbers import GivenNumber, exact, exact_positive, shown, whole

FREQUENCIES = ("rr", *MAKERS, "rappor")
RAPPOR_OPTIONS = ("bits", "hashes", "cohorts", "p", "q")
LARGEST_EPSILON = 40
LEAST_EPSILON = Fraction(1, 10**6)
WAYS = ("sample", "split")
FRACTION = re.compile(r"-?\d{1,120}(/\d{1,120})?")


def protocol(name: str, *, domain: Any, epsilon: GivenNumber | None = None, **options: Any) -> Protocol:
    """How many people hold each value of a public domain.

    `name` is "rr" (two answers; without epsilon two fair coins, ε = ln 3), "grr", "sue", "oue", "olh", "hadamard",
    "subset", "rappor" (options bits, hashes, cohorts, p, q), or "auto": the least variance for this domain and epsilon.
    """
    if name not in (*FREQUENCIES, "auto"):
        raise protocol_unknown(name, FREQUENCIES)
    listed = Domain(domain)
    known = RAPPOR_OPTIONS if name == "rappor" else ()
    for option in options:
        if option not in known:
            raise option_unknown(option, name, known)
    if epsilon is None:
        if name != "rr":
            raise epsilon_missing(name)
        return Protocol(frequency("rr", listed, None))
    price = _price(epsilon)
    if name == "rappor":
        chances: dict[str, Any] = {key: exact(options[key], key) for key in ("p", "q") if key in options}
        return Protocol(_rappor(listed, price, {**options, **chances}))
    chosen = frequencies.least_variance(len(listed), price) if name == "auto" else name
    return Protocol(frequency(chosen, listed, price))


def mean(name: str = "auto", *, lower: GivenNumber, upper: GivenNumber, epsilon: GivenNumber) -> Protocol:
    """The mean of a number between public bounds: "duchi", "piecewise", "hybrid", "laplace", or "auto"."""
    if name not in (*LAWS, "auto"):
        raise protocol_unknown(name, LAWS)
    low, high = exact(lower, "lower"), exact(upper, "upper")
    if low >= high or not float(low) < float(high):
        raise bounds_unusable()
    price = _price(epsilon)
    return Protocol(Mean(means.least_variance(price) if name == "auto" else name, price, low, high))


def attributes(
    parts: Mapping[str, Any], *, epsilon: GivenNumber, way: str = "sample", numbers: str = "auto"
) -> Protocol:
    """Several attributes of each person for one epsilon: a list is a domain, a pair (lower, upper) a number.

    way="sample": each person reports one attribute, chosen by chance, with the whole epsilon. way="split": all of them,
    with a share of epsilon each, which is far worse. `numbers` names the protocol for numbers.
    """
    if not isinstance(parts, Mapping) or not parts or not all(isinstance(name, str) for name in parts):
        raise attributes_unusable()
    if way not in WAYS:
        raise protocol_unknown(way, WAYS)
    price = _price(epsilon)
    share = price if way == "sample" else price / len(parts)
    schemes = tuple(_part(content, share, numbers) for content in parts.values())
    return Protocol(Attributes(tuple(parts), schemes, way, price))


def _part(content: Any, share: Fraction, numbers: str) -> Any:
    if isinstance(content, tuple) and len(content) == 2:
        return mean(numbers, lower=content[0], upper=content[1], epsilon=share).scheme
    return protocol("auto", domain=content, epsilon=share).scheme


def heavy_hitters(*, alphabet: str, length: int, epsilon: GivenNumber, keep: int = 32) -> Protocol:
    """The frequent texts of up to `length` characters, out of more than anybody could list."""
    return Protocol(Hitters(alphabet, length, _price(epsilon), keep))


def load(source: Any) -> Protocol:
    """The protocol of a specification: a file that `save` or `sfumato local plan` wrote, or its content."""
    spec = read_spec(source) if isinstance(source, str | Path) else source
    if not isinstance(spec, dict) or spec.get("sfumato") != VERSION:
        raise spec_unusable(f'it does not say "sfumato": {VERSION}')
    try:
        scheme = _scheme(spec)
    except SfumatoError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError) as error:
        raise spec_unusable(f"something is missing or of the wrong kind ({type(error).__name__})") from None
    if fingerprint(scheme.spec()) != fingerprint(spec):
        raise spec_unusable("it holds something that does not belong to it")
    return Protocol(scheme)


def _scheme(spec: dict[str, Any]) -> Scheme:
    name = spec["protocol"]
    price = None if spec["epsilon"] == "ln 3" else _price(_fraction(spec["epsilon"]))
    match name:
        case "attributes":
            inner = [load(one).scheme for one in spec["attributes"]]
            parts = tuple(one for one in inner if isinstance(one, Frequency | Mean))
            return Attributes(tuple(spec["names"]), parts, spec["way"], _needed(price))
        case "heavy hitters":
            return Hitters(spec["alphabet"], spec["length"], _needed(price), spec["keep"])
        case "rappor":
            options = {key: _fraction(spec[key]) if key in ("p", "q") else spec[key] for key in RAPPOR_OPTIONS}
            return _rappor(Domain.from_json(spec["domain"]), _needed(price), options)
        case _ if name in LAWS:
            return Mean(name, _needed(price), _fraction(spec["lower"]), _fraction(spec["upper"]))
        case _ if name in FREQUENCIES:
            return frequency(name, Domain.from_json(spec["domain"]), price if name == "rr" else _needed(price))
        case _:
            raise protocol_unknown(name, FREQUENCIES)


def _rappor(domain: Domain, price: Fraction, options: dict[str, Any]) -> Rappor:
    given: dict[str, Any] = {
        name: whole(options[name], name, least=1) for name in ("bits", "hashes", "cohorts") if name in options
    }
    given |= {name: options[name] for name in ("p", "q") if name in options}
    return Rappor(domain, price, **given)


def _fraction(text: Any) -> Fraction:
    """Needs: a short text such as 1/10; a long exponent would take for ever."""
    if not isinstance(text, str) or not FRACTION.fullmatch(text):
        raise spec_unusable("a number in it is not written like 1/10")
    return Fraction(text)


def _needed(price: Fraction | None) -> Fraction:
    if price is None:
        raise spec_unusable("it names no epsilon")
    return price


def _price(epsilon: Any) -> Fraction:
    price = exact_positive(epsilon, "epsilon")
    if price > LARGEST_EPSILON:
        raise epsilon_too_large(shown(price), LARGEST_EPSILON)
    if price < LEAST_EPSILON:
        raise epsilon_too_small(shown(price), shown(LEAST_EPSILON))
    return price


def compare(size: int, epsilon: GivenNumber) -> list[dict[str, Any]]:
    """Every frequency protocol for a domain of this size: variance a report, bits a report; the best one is marked."""
    price = _price(epsilon)
    best = frequencies.least_variance(size, price)
    return [
        {"protocol": name, "variance": variance(oracle), "bits": oracle.bits, "best": name == best}
        for name, oracle in frequencies.choices(size, price).items()
    ]
