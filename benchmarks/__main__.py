"""python -m benchmarks [topic …] [--strict]: figures in one run, as ratios to peers; `large` only if it is named."""

import sys

from benchmarks import (
    accounting,
    anonymise,
    answers,
    attacks,
    bounds,
    engine,
    geo,
    large,
    latency,
    local,
    noise,
    timing,
)

TOPICS = {
    "noise": noise.run,
    "accounting": accounting.run,
    "latency": latency.run,
    "engine": engine.run,
    "answers": answers.run,
    "anonymise": anonymise.run,
    "attacks": attacks.run,
    "geo": geo.run,
    "local": local.run,
    "bounds": bounds.run,
    "timing": timing.run,
}
ON_REQUEST = {"large": large.run}  # takes minutes and several GB of disk


def main(arguments: list[str]) -> int:
    chosen = [name for name in arguments if not name.startswith("-")] or list(TOPICS)
    known = TOPICS | ON_REQUEST
    if unknown := [name for name in chosen if name not in known]:
        print(f"unknown topic {unknown[0]}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    reached = [report.show() for name in chosen for report in known[name]()]
    print(f"{sum(reached)} of {len(reached)} tables reached all their targets.")
    return 1 if "--strict" in arguments and not all(reached) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
