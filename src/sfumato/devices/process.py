"""Which process this is."""

import os

Process = tuple[int, object]


class _This:
    """A mark that no other process has."""

    def __init__(self) -> None:
        self.mark = object()

    def renew(self) -> None:
        self.mark = object()


_THIS = _This()
os.register_at_fork(after_in_child=_THIS.renew)


def this_process() -> Process:
    """Claim: equal to what an earlier call gave if and only if that call was made in this process.

    The number shows forks that Python is not told of. The mark shows all others, also to a child that was given the
    number of its dead parent.
    """
    return os.getpid(), _THIS.mark
