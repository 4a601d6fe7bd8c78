"""tests/system-packages: silent when nothing is missing, installs as root, else says exactly what to run."""

import subprocess
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT

ADVICE = "Run: sudo apt-get update && sudo apt-get install -y strace"


def run_with(folder: Path, **programs: str) -> subprocess.CompletedProcess[str]:
    """Run the script where these programs are all there is."""
    for name, body in programs.items():
        program = folder / name.replace("_", "-")
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(0o755)
    script = ["/bin/sh", str(ROOT / "tests" / "system-packages")]
    return subprocess.run(script, env={"PATH": str(folder)}, capture_output=True, text=True, timeout=60)


def test_nothing_is_missing(tmp_path: Path) -> None:
    done = run_with(tmp_path, strace="", id="echo 1000")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("programs", [{"id": "echo 1000", "apt_get": ""}, {"id": "echo 0"}])
def test_it_says_what_to_run(tmp_path: Path, programs: dict[str, str]) -> None:
    done = run_with(tmp_path, **programs)
    assert done.returncode == 1
    assert ADVICE in done.stderr


def test_root_installs_after_an_update(tmp_path: Path) -> None:
    log, strace = tmp_path / "log", tmp_path / "strace"
    installing = f'echo "$1" >> {log}; if [ "$1" = install ]; then : > {strace}; /bin/chmod +x {strace}; fi'
    done = run_with(tmp_path, id="echo 0", apt_get=installing)
    assert (done.returncode, done.stderr) == (0, "")
    assert log.read_text().split() == ["update", "install"]


@pytest.mark.parametrize("step", ["update", "install", "neither"])
def test_a_failed_installation_says_what_to_run(tmp_path: Path, step: str) -> None:
    done = run_with(tmp_path, id="echo 0", apt_get=f'[ "$1" != {step} ]')
    assert done.returncode == 1
    assert ADVICE in done.stderr
