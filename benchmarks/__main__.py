"""python -m benchmarks [topic …] [--strict]: figures in one run, as ratios to peers."""

import sys

from benchmarks import accounting, anonymise, attacks, bounds, engine, geo, latency, local, noise

TOPICS = {
    "noise": noise.run,
    "accounting": accounting.run,
    "latency": latency.run,
    "engine": engine.run,
    "anonymise": anonymise.run,
    "attacks": attacks.run,
    "geo": geo.run,
    "local": local.run,
    "bounds": bounds.run,
}


def main(arguments: list[str]) -> int:
    chosen = [name for name in arguments if not name.startswith("-")] or list(TOPICS)
    if unknown := [name for name in chosen if name not in TOPICS]:
        print(f"unknown topic {unknown[0]}; there are {', '.join(TOPICS)}", file=sys.stderr)
        return 2
    reached = [report.show() for name in chosen for report in TOPICS[name]()]
    print(f"{sum(reached)} of {len(reached)} tables reached all their targets.")
    return 1 if "--strict" in arguments and not all(reached) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
