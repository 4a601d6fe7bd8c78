"""One at a time: the lock of the anchor is given up, wherever an interruption comes and whoever keeps the error."""

import fcntl
import gc
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from sfumato.errors import LedgerDamaged
from sfumato.ledger.alone import alone
from sfumato.ledger.anchor import Anchor
from sfumato.ledger.ledger import Ledger
from tests.ledger.payments import open_ledger, payment

OURS = ("alone.py", "anchor.py", "contextlib.py", "disk.py")


def interrupted(act: Callable[[], object], at: int, files: tuple[str, ...]) -> KeyboardInterrupt | None:
    """The error of a Ctrl-C that comes at one of the moments at which Python looks for one, or None after the last.

    These are the beginning of a function and the end of a call of one that is not Python.
    """
    seen = 0

    def look(frame: FrameType, event: str, _: object) -> None:
        nonlocal seen
        if event in ("call", "c_return") and frame.f_code.co_filename.endswith(files):
            seen += 1
            if seen == at:
                sys.setprofile(None)
                raise KeyboardInterrupt

    before = sys.getprofile()
    try:
        sys.setprofile(look)
        act()
    except KeyboardInterrupt as error:
        return error
    finally:
        sys.setprofile(before)
    return None


def is_free(path: Path) -> bool:
    descriptor = os.open(path, os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def test_an_interruption_at_any_moment_gives_the_lock_up_while_its_error_is_kept(tmp_path: Path) -> None:
    """A notebook keeps the last error, and with it everything that is still open in it."""
    anchor = Anchor(tmp_path / "a")
    anchor.advance((1, "0" * 64), lambda seq, digest: True)
    moments = 0
    while (kept := interrupted(anchor.remembered, moments + 1, OURS)) is not None:
        moments += 1
        assert is_free(anchor.path), f"moment {moments}"
        del kept
    assert moments >= 10


def test_a_ledger_goes_on_after_an_interruption_before_its_block_began(tmp_path: Path) -> None:
    """When the transaction is open, and nobody is inside yet: the next question is answered, by others too."""
    ledger, other = open_ledger(tmp_path / "a.ledger"), open_ledger(tmp_path / "a.ledger")
    moments, errors = 0, []
    while (kept := interrupted(lambda: _touch(ledger), moments + 1, ("contextlib.py",))) is not None:
        moments += 1
        code = _innermost(kept)
        errors.append(kept)  # kept, all of them
        if code == "__enter__":
            assert not ledger.records.chain._connection.in_transaction
            other.charge(payment(0.001, question=moments))
            ledger.charge(payment(0.001, question=moments + 1000))
        elif ledger.records.chain._connection.in_transaction:
            errors.clear()  # at the very beginning of an end: until its error is forgotten
            del kept
    assert moments >= 4
    errors.clear()
    gc.collect()  # what an error kept is given up with it: a fork from another thread would wait for this lock
    assert not ledger.records.chain._lock._is_owned()
    assert ledger.verify() > 1
    ledger.close()
    other.close()


def _touch(ledger: Ledger) -> None:
    with ledger.records.writing():
        pass


def _innermost(error: BaseException) -> str:
    trace = error.__traceback__
    assert trace is not None
    names = []
    while trace is not None:
        names.append((trace.tb_frame.f_code.co_filename, trace.tb_frame.f_code.co_name))
        trace = trace.tb_next
    return [name for file, name in names if file.endswith("contextlib.py")][-1]


@pytest.mark.parametrize("raised", [ValueError, KeyboardInterrupt])
def test_what_is_raised_inside_gives_the_lock_up(tmp_path: Path, raised: type[BaseException]) -> None:
    def work(_: int) -> Any:
        assert not is_free(tmp_path / "a")
        raise raised

    with pytest.raises(raised):
        alone(tmp_path / "a", work)
    assert is_free(tmp_path / "a")


def test_a_place_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(LedgerDamaged, match="cannot be written"):
        alone(tmp_path / "folder", lambda _: None)
