"""What hangs on the last bit holds without the vector instructions of this processor: as on an older one, or another.

NumPy and OpenBLAS choose among several versions of exp, log, sums and products by what the processor can do, and these
differ in the last bits. The files named here compare with exact arithmetic; they run again with the plainest versions.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

ROOT = Path(__file__).parents[1]
CHOSEN = [name for name in __cpu_dispatch__ if __cpu_features__[name]]
SENSITIVE = (
    "tests/accounting/test_rounding.py",
    "tests/accounting/test_grid.py",
    "tests/accounting/test_pld.py::test_what_is_only_zcdp_covers_the_conversion_and_all_it_is_told_of",
    "tests/kernel/test_samplers.py::test_elementary_functions_err_by_less_than_four_units_in_the_last_place",
    "tests/geo/test_globe.py::test_sine_and_cosine_err_by_less_than_the_proof_allows",
    "tests/local/test_shuffle.py",
)
AGAIN = """
import ctypes, sys
from pathlib import Path
import numpy
import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

assert not [name for name in __cpu_dispatch__ if __cpu_features__[name]], "vector instructions are still in use"
for path in Path(numpy.__file__).parents[1].glob("numpy.libs/libscipy_openblas64_*"):
    core = ctypes.CDLL(str(path)).scipy_openblas_get_corename64_
    core.restype = ctypes.c_char_p
    print("core:", core().decode())
sys.exit(pytest.main(sys.argv[1:]))
"""


def run(environment: dict[str, str], *arguments: str) -> "subprocess.CompletedProcess[str]":
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [sys.executable, "-c", AGAIN, "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=clean | environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.exhaustive
def test_bounds_and_margins_hold_without_vector_instructions() -> None:
    plain = {"NPY_DISABLE_CPU_FEATURES": " ".join(CHOSEN), "OPENBLAS_CORETYPE": "Prescott", "OPENBLAS_NUM_THREADS": "1"}
    done = run(plain, *SENSITIVE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout
    assert "failed" not in done.stdout
    assert "skipped" not in done.stdout
    assert all(newer not in done.stdout for newer in ("core: Haswell", "core: Zen", "core: SkylakeX"))


@pytest.mark.skipif(not CHOSEN, reason="NumPy has nothing to switch off on this processor")
def test_a_process_that_still_uses_them_is_seen() -> None:
    done = run({"NPY_DISABLE_CPU_FEATURES": ""}, "--version")
    assert done.returncode != 0
    assert "vector instructions are still in use" in done.stderr
