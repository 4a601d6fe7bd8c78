"""Another state of this repository, unpacked beside it."""

import io
import subprocess
import tarfile
from pathlib import Path

from benchmarks.side import ROOT
from sfumato.errors import did_you_mean


class RevisionUnknown(Exception):
    """There is no such revision, or no repository to look in."""


def unpacked(revision: str, folder: Path) -> tuple[str, Path]:
    """The commit, and its `src` unpacked into the folder; nothing in this tree changes."""
    commit = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if commit is None:
        names = (_git("for-each-ref", "--format=%(refname:short)") or b"").decode().split()
        if not names:
            raise RevisionUnknown("This is no clone of the repository, so there is no other revision to compare with.")
        raise RevisionUnknown(
            f"unknown revision {revision}.{did_you_mean(revision, names)} Name a commit, a branch or a tag: git log"
        )
    name = commit.decode().strip()
    packed = _git("archive", "--format=tar", name, "src")
    if packed is None:
        raise RevisionUnknown(f"revision {revision} has no folder src.")
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return name, folder / "src"


def _git(*words: str) -> bytes | None:
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=False)
    except FileNotFoundError:
        raise RevisionUnknown("Comparing with another revision needs git, which is not installed.") from None
    return done.stdout if done.returncode == 0 else None
