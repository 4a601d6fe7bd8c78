"""Hashes of what decides a verdict: the check, the lab's other files, and the judges."""

import hashlib
from pathlib import Path

from sfumato.labs.source import Lab

LABS = Path(__file__).parent
JUDGES = (
    "answers.py",
    "causes.py",
    "generators.py",
    "judge.py",
    "laws.py",
    "privacy.py",
    "running.py",
    "verdict.py",
    "wire.py",
)
OF_LAB = ("cells.py", "checks.py", "mutants.py", "numbers.py", "variants.toml")


def hash_of(lab: Lab) -> str:
    """Changes when a verdict of this lab could change: its files without prose, its data, the judges."""
    digest = hashlib.sha256()
    data = sorted((LABS / "data").glob("*.py"))
    for path in (*(LABS / name for name in JUDGES), *data, *(lab.folder / name for name in OF_LAB)):
        digest.update(path.name.encode() + b"\0" + path.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()[:16]
