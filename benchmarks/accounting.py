"""Seconds and accuracy of composition against dp-accounting (must be installed) on the same lists of mechanisms."""

import numpy as np
from dp_accounting import GaussianDpEvent, LaplaceDpEvent
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant

from benchmarks.measure import Report, medians
from sfumato.accounting import compose
from sfumato.accounting.events import plan
from sfumato.accounting.losses import losses
from sfumato.accounting.pld import epsilon_of

DELTA = 1e-6
Mechanisms = list[tuple[str, float]]


def run() -> list[Report]:
    return [_homogeneous(), _mixed(1000, repetitions=2), _mixed(10_000, repetitions=1)]


def _homogeneous() -> Report:
    report = Report("A thousand equal Laplace mechanisms, epsilon 0.1 each")
    events = [("laplace", 0.1)] * 1000
    seconds = medians({"ours": lambda: _ours(events), "peer": lambda: _peer(events)}, repetitions=3)
    report.add("Sfumato", seconds["ours"], "s", at_most=0.5)
    report.add("  against dp-accounting, composed one by one", seconds["peer"] / seconds["ours"], "times", at_least=10)
    report.add("  difference in epsilon", abs(_ours(events) - _peer(events)), "", at_most=1e-4)
    report.add(
        "all seven bounds", medians({"all": lambda: compose(events, DELTA)}, repetitions=3)["all"], "s", at_most=1
    )
    return report


def _mixed(count: int, *, repetitions: int) -> Report:
    report = Report(f"{count:,} mechanisms, half Laplace and half Gaussian")
    for name, events in (("16 kinds", _kinds(count, 16)), ("all different", _kinds(count, count))):
        functions = {
            "ours": lambda chosen=events: _ours(chosen),
            "peer": lambda chosen=events: _peer(chosen),
            "rdp": lambda chosen=events: _peer(chosen, RdpAccountant()),
        }
        seconds = medians(functions, repetitions)
        report.add(f"Sfumato, {name}", seconds["ours"], "s", at_most=2)
        report.add("  against dp-accounting's PLD", seconds["peer"] / seconds["ours"], "times", at_least=5)
        report.add("  against its Rényi accountant", seconds["rdp"] / seconds["ours"], "times")
        report.add("  its epsilon minus ours", _peer(events) - _ours(events), "", at_least=-1e-6)
    return report


def _kinds(count: int, kinds: int) -> Mechanisms:
    """The lists with which the peers were measured: scales between 100 and 1,000 times the sensitivity."""
    source = np.random.default_rng(0)
    scales = source.choice(np.linspace(100, 1000, kinds), count) if kinds < count else source.uniform(100, 1000, count)
    pairs = enumerate(scales.tolist())
    return [("gaussian", scale) if place % 2 else ("laplace", 1 / scale) for place, scale in pairs]


def _ours(events: Mechanisms) -> float:
    return epsilon_of(losses(plan(events), delta=DELTA), DELTA)


def _peer(events: Mechanisms, accountant: PLDAccountant | RdpAccountant | None = None) -> float:
    accountant = PLDAccountant() if accountant is None else accountant
    for mechanism, amount in events:
        accountant.compose(GaussianDpEvent(amount) if mechanism == "gaussian" else LaplaceDpEvent(1 / amount))
    return float(accountant.get_epsilon(DELTA))
