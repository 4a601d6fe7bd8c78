"""One million users, 128 values: randomise and estimate, against multi-freq-ldpy on the same values in the same run.

The peer is measured where it is installed, or where SFUMATO_PEER_LDP names a Python that has it (it pins old packages).
Its local hashing takes minutes, so it gets a part of the users and the time is scaled up; all else is measured whole.
"""

import json
import os
import subprocess
import sys
from fractions import Fraction
from importlib.util import find_spec
from typing import Any

import numpy as np

import sfumato as sf
from benchmarks.measure import Report, medians
from sfumato.local.frequency import choices
from sfumato.local.oracle import variance
from sfumato.local.trial import trial, zipf_counts

USERS = 1_000_000
VALUES = 128
EPSILON = 1
PEER_PART = {"grr": 1, "oue": 1, "olh": 50}  # one user in so many, for the peer
TARGETS = {"grr": 0.15, "oue": 1.0, "olh": 3.0}
MARGIN = 0.12

PEER = """
import json, sys, time, warnings
warnings.filterwarnings("ignore")
import numpy as np
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client, GRR_Aggregator_MI
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client, UE_Aggregator_MI
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Client, LH_Aggregator_MI
counts, k, parts, epsilon = json.load(sys.stdin)
people = np.random.default_rng(3).permutation(np.repeat(np.arange(k), counts))
work = {
    "grr": lambda x: GRR_Aggregator_MI([GRR_Client(int(v), k, epsilon) for v in x], k, epsilon),
    "oue": lambda x: UE_Aggregator_MI([UE_Client(int(v), k, epsilon, True) for v in x], epsilon, True),
    "olh": lambda x: LH_Aggregator_MI([LH_Client(int(v), k, epsilon, True) for v in x], k, epsilon, True),
}
seconds = {}
for name, part in parts.items():
    work[name](people[:50])
    mine = people[::part]
    start = time.perf_counter()
    work[name](mine)
    seconds[name] = (time.perf_counter() - start) * len(people) / len(mine)
print(json.dumps(seconds))
"""


def run() -> list[Report]:
    return [_speed(), _variances()]


def _speed() -> Report:
    report = Report(f"Local model: {USERS:,} users, {VALUES} values, epsilon {EPSILON}, randomise and estimate")
    people = np.repeat(np.arange(VALUES), zipf_counts(VALUES, USERS))
    seconds = medians(
        {name: lambda n=name: _collected(n, people) for name in choices(VALUES, Fraction(EPSILON))}, repetitions=3
    )
    peer = _peer()
    for name, found in seconds.items():
        report.add(name, found, "s", at_most=TARGETS.get(name))
        if name in peer:
            part = PEER_PART[name]
            how = f", one user in {part} measured and scaled" if part > 1 else ""
            report.add(f"  multi-freq-ldpy {name}{how}", peer[name], "s")
            report.add("  times faster", peer[name] / found, "times", at_least=1)
    if not peer:
        report.add("  multi-freq-ldpy is not installed: set SFUMATO_PEER_LDP", float("nan"), "")
    return report


def _collected(name: str, people: np.ndarray[Any, Any]) -> Any:
    protocol = sf.local.protocol(name, domain=range(VALUES), epsilon=EPSILON)
    return protocol.estimate(protocol.randomise(people))


def _peer() -> dict[str, float]:
    python = os.environ.get("SFUMATO_PEER_LDP") or (sys.executable if find_spec("multi_freq_ldpy") else "")
    if not python:
        return {}
    given = json.dumps([zipf_counts(VALUES, USERS), VALUES, PEER_PART, EPSILON])
    done = subprocess.run([python, "-c", PEER], input=given, capture_output=True, text=True, check=True, timeout=900)
    return {name: float(found) for name, found in json.loads(done.stdout.splitlines()[-1]).items()}


def _variances() -> Report:
    """The mean square error of 400 collections, in units of theory; its own deviation is about 3 %."""
    report = Report("Variance of unbiased counts: 400 collections of 2,000 users, 16 values, epsilon 1")
    for name in choices(16, Fraction(EPSILON)):
        protocol = sf.local.protocol(name, domain=range(16), epsilon=EPSILON)
        found = trial(protocol, zipf_counts(16, 2000), rounds=400)
        ratio = (found.error / found.expected) ** 2
        report.add(f"{name}, measured over theory", ratio, "", at_most=1 + MARGIN)
        report.add(f"  {name}, 95 % error bars that hold", 100 * found.covered, "%", at_least=94)
    oracles = choices(16, Fraction(EPSILON))
    saved = 100 * (1 - variance(oracles["subset"]) / variance(oracles["sue"]))
    report.add("subset selection against SUE, 16 values: less variance", saved, "%", at_least=20.5)
    return report
