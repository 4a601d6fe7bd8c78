"""The source of randomness: uniform for every bound, never repeated, deaf to seeds, and the only one there is."""

import ast
import json
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

import sfumato
from sfumato.kernel import entropy as entropy_module
from sfumato.kernel.entropy import SystemEntropy
from tests.entropy import ScriptedEntropy, SeededEntropy

SOURCE = Path(sfumato.__file__).parent


class Rejected(Exception):
    pass


def values_of_all_bytes(monkeypatch: pytest.MonkeyPatch, bound: int) -> Counter[int]:
    """What below(bound) returns for every possible first read; rejections are left out."""
    length = ((bound - 1).bit_length() + 7) // 8
    values: Counter[int] = Counter()
    for number in range(256**length):
        reads = iter([number.to_bytes(length, "little")])

        def read(count: int, reads: Iterator[bytes] = reads) -> bytes:
            assert count == length
            try:
                return next(reads)
            except StopIteration:
                raise Rejected from None

        monkeypatch.setattr(entropy_module.ssl, "RAND_bytes", read)
        with suppress(Rejected):
            values[SystemEntropy().below(bound)] += 1
    return values


@pytest.mark.slow
@pytest.mark.parametrize("bounds", [range(1, 65), range(65, 129), range(129, 193), range(193, 257), [257, 1000, 65536]])
def test_below_is_uniform_for_every_small_bound(monkeypatch: pytest.MonkeyPatch, bounds: range) -> None:
    for bound in bounds:
        values = values_of_all_bytes(monkeypatch, bound)
        assert set(values) == set(range(bound))
        assert len(set(values.values())) == 1, f"below({bound}) prefers some values"
        # At most every other read is rejected.
        assert 2 * sum(values.values()) > 256 ** (((bound - 1).bit_length() + 7) // 8)


@pytest.mark.parametrize("bound", [0, -1, -256])
def test_below_nothing_is_refused(bound: int) -> None:
    with pytest.raises(ValueError, match="at least one"):
        SystemEntropy().below(bound)


def test_below_of_large_bounds_stays_below_and_reaches_the_top_bits() -> None:
    source = SystemEntropy()
    for bits in (63, 64, 65, 128, 1000):
        draws = [source.below(1 << bits) for _ in range(200)]
        assert all(0 <= draw < 1 << bits for draw in draws)
        assert max(draws) >> (bits - 1) == 1
        assert len(set(draws)) == 200


@pytest.mark.parametrize("kind", [SystemEntropy(), SeededEntropy("words")])
def test_words_have_the_size_asked_for_and_look_uniform(kind: SystemEntropy | SeededEntropy) -> None:
    assert len(kind.words(0)) == 0
    words = kind.words(100_000)
    assert words.dtype == np.uint64
    assert len(words) == 100_000
    assert len(np.unique(words)) == 100_000
    bits = np.unpackbits(words.view(np.uint8)).reshape(-1, 64).sum(axis=0)
    assert np.all(np.abs(bits - 50_000.0) < 6 * np.sqrt(100_000) / 2)


@pytest.mark.parametrize("count", [0, 1, 4, 5, 6, 10, 11, 23])
def test_large_requests_are_split(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    largest = 5
    asked: list[int] = []

    def read(length: int) -> bytes:
        asked.append(length)
        return b"".join((8 * len(asked) + i).to_bytes(8, "little") for i in range(length // 8))

    monkeypatch.setattr(entropy_module, "LARGEST_REQUEST", largest)
    monkeypatch.setattr(entropy_module.ssl, "RAND_bytes", read)
    words = SystemEntropy().words(count)
    assert len(words) == count
    assert len(set(words.tolist())) == count
    assert max(asked, default=0) <= 8 * largest
    assert sum(asked) == 8 * count


def test_the_largest_request_fits_a_c_integer() -> None:
    assert 8 * entropy_module.LARGEST_REQUEST <= 2**31 - 1


def test_threads_share_no_draw() -> None:
    drawn: list[list[int]] = [[] for _ in range(8)]

    def draw(into: list[int]) -> None:
        into.extend(SystemEntropy().words(2_000).tolist())
        into.extend(SystemEntropy().below(1 << 64) for _ in range(500))

    threads = [Thread(target=draw, args=(into,)) for into in drawn]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    everything = [value for one in drawn for value in one]
    assert len(everything) == 8 * 2_500
    assert len(set(everything)) == len(everything)


def in_a_new_interpreter(script: str, **environment: str) -> list[str]:
    """Runs it with an empty environment on the package under test, which need not be the installed one."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={"PATH": "", "PYTHONPATH": str(SOURCE.parent), **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return [str(value) for value in json.loads(done.stdout)]


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="forks need POSIX")
def test_forked_children_share_no_draw() -> None:
    """Grandchildren too, and a pool of workers; the parent has drawn before, so a copied state would show."""
    drawn = in_a_new_interpreter(
        """
        import json, multiprocessing, os
        from sfumato.kernel.entropy import SystemEntropy

        source = SystemEntropy()

        def draw(_=None):
            return [str(word) for word in source.words(200)] + [str(source.below(1 << 64)) for _ in range(50)]

        def drawn_by_fork(depth):
            reader, writer = os.pipe()
            child = os.fork()
            if child == 0:
                os.close(reader)
                more = drawn_by_fork(depth - 1) if depth else []
                os.write(writer, json.dumps(draw() + more).encode())
                os._exit(0)
            os.close(writer)
            with os.fdopen(reader) as stream:
                text = stream.read()
            os.waitpid(child, 0)
            return json.loads(text)

        everything = draw()
        for _ in range(6):
            everything += drawn_by_fork(2)
        with multiprocessing.get_context("fork").Pool(3) as pool:
            for one in pool.map(draw, range(12), chunksize=1):
                everything += one
        print(json.dumps(everything))
        """
    )
    assert len(drawn) == 250 * (1 + 6 * 3 + 12)
    assert len(set(drawn)) == len(drawn)


def test_seeds_change_nothing() -> None:
    """N5: reseeding every generator there is, 1,000 times, repeats nothing; nor do equal interpreters."""
    script = """
        import json, os, random
        import numpy as np
        from fractions import Fraction
        from sfumato.kernel.entropy import SystemEntropy
        from sfumato.kernel.mechanisms.additive import DiscreteLaplace

        law, drawn = DiscreteLaplace(Fraction(10) ** 12), []
        for _ in range(1000):
            random.seed(1)
            np.random.seed(1)
            drawn.append(int(law.draw(1, SystemEntropy())[0]))
            drawn.append(int(SystemEntropy().words(1)[0]))
        print(json.dumps([str(value) for value in drawn]))
        """
    first = in_a_new_interpreter(script, PYTHONHASHSEED="0")
    second = in_a_new_interpreter(script, PYTHONHASHSEED="0")
    assert len(first) == len(second) == 2000
    assert len(set(first + second)) == 4000


def test_the_seeded_source_of_the_tests_repeats_itself() -> None:
    """The twin: the two tests above would see a source that obeys a seed."""
    first, second = SeededEntropy("same"), SeededEntropy("same")
    assert first.words(10).tolist() == second.words(10).tolist()
    assert first.below(1 << 64) == second.below(1 << 64)
    assert SeededEntropy("a").words(10).tolist() != SeededEntropy("b").words(10).tolist()
    split = SeededEntropy("same")
    assert split.words(4).tolist() + split.words(6).tolist() == SeededEntropy("same").words(10).tolist()
    with pytest.raises(AssertionError, match="too few"):
        ScriptedEntropy([1]).words(2)


GENERATORS = ("random", "numpy.random", "secrets", "scipy.stats")
ALLOWED = {
    "kernel/entropy.py": {"ssl.RAND_bytes"},
    "anonymise/identify.py": {"secrets"},  # makes the key of pseudonyms; no noise comes from it
    "ledger/ledger.py": {"secrets"},  # names a new ledger; no noise comes from it
    "ledger/data_key.py": {"secrets"},  # makes the key of the data's version; no noise comes from it
    "ledger/veil.py": {"secrets"},  # makes nonces; no noise comes from it
    "ledger/starting.py": {"secrets"},  # names a file that is not yet in its place
    "devices/disk.py": {"secrets"},  # names a file that is not yet in its place
    "labs/course.py": {"secrets"},  # makes the secret of a course; no noise comes from it
    "labs/generators.py": {"numpy.random"},  # what a student's functions are handed
    "labs/laws.py": {"scipy.stats"},  # laws that answers are compared with; nothing is drawn
}
LESSONS = {"random", "numpy.random", "scipy.stats"}  # students draw, and learn why that is not enough
READERS = ("os.urandom", "os.getrandom", "ssl.RAND_bytes", "ssl.RAND_pseudo_bytes", "uuid.uuid1", "uuid.uuid4")


def generators_in(source: str) -> set[str]:
    """Every generator a module imports or reads, whatever name it gives it."""
    names: dict[str, str] = {}
    found: set[str] = set()
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
                found |= _known(alias.name)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= _known(node.module)
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                found |= _known(f"{node.module}.{alias.name}")
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            found |= _known(_dotted(node, names))
    return found


def _dotted(node: ast.expr, names: dict[str, str]) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value, names)}.{node.attr}"
    return names.get(node.id, node.id) if isinstance(node, ast.Name) else "?"


def _known(name: str) -> set[str]:
    inside = {known for known in GENERATORS if name == known or name.startswith(f"{known}.")}
    return inside | ({name} if name in READERS else set())


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_other_module_holds_a_generator(path: Path) -> None:
    """N5: `simulate` is seeded on purpose, and `kernel.entropy` is the one reader of the operating system's."""
    where = path.relative_to(SOURCE).parts
    allowed = {"random", "numpy.random"} if where[0] == "simulate" else ALLOWED.get("/".join(where), set())
    if where[:2] == ("labs", "content"):
        allowed = LESSONS
    assert generators_in(path.read_text(encoding="utf-8")) <= allowed


@pytest.mark.parametrize(
    "source",
    [
        "import random",
        "import random as calm",
        "from random import Random",
        "import numpy as np\nnp.random.default_rng()",
        "import numpy\nnumpy.random.seed(1)",
        "from numpy import random",
        "from numpy.random import default_rng",
        "import numpy.random",
        "import secrets",
        "import os\nos.urandom(8)",
        "from os import urandom as read",
        "def f():\n    import random",
        "import ssl as tls\ntls.RAND_bytes(8)",
        "import uuid\nuuid.uuid4()",
    ],
)
def test_the_scan_sees_every_way_to_a_generator(source: str) -> None:
    assert generators_in(source)


@pytest.mark.parametrize(
    "source", ["import numpy as np\nnp.log(1)", "randomised = 1", "from os import path", "a.random"]
)
def test_the_scan_minds_its_own_business(source: str) -> None:
    assert not generators_in(source)
