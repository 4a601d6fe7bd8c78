"""Client and server of a collection without trust, and the one object that makes both."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from sfumato.errors import DataUnreadable, UsageError
from sfumato.kernel.entropy import Entropy, SystemEntropy
from sfumato.local.estimate import CONFIDENCE, quantile
from sfumato.local.scheme import Columns, Scheme, fingerprint
from sfumato.local.wordings import no_reports, report_wrong, reports_of_another

BATCH = 1 << 16


@dataclass(frozen=True, slots=True)
class Reports:
    """Randomised reports of many people, in columns; `rows` and `lines` are what travels."""

    scheme: Scheme
    mark: str
    columns: Columns

    def __len__(self) -> int:
        return len(self.columns[0])

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Each report as it is written in JSON: the fingerprint of the parameters, and the report."""
        return [{"protocol": self.mark, "report": payload} for payload in self.scheme.payloads(self.columns)]

    def lines(self) -> Iterator[str]:
        """One line of JSON a report."""
        start = f'{{"protocol":"{self.mark}","report":'
        for payload in self.scheme.payloads(self.columns):
            yield f"{start}{json.dumps(payload, separators=(',', ':'))}}}"


class Client:
    """The side that holds a value: it randomises, and nothing else leaves it."""

    __slots__ = ("_scheme", "fingerprint")

    def __init__(self, scheme: Scheme) -> None:
        self._scheme = scheme
        self.fingerprint = fingerprint(scheme.spec())

    @property
    def epsilon(self) -> float:
        """What one report costs the person it is about."""
        return self._scheme.epsilon

    @property
    def scheme(self) -> Scheme:
        return self._scheme

    def randomise(self, values: Any, *, entropy: Entropy | None = None, row: int = 1) -> Reports:
        """One report for each value; the values belong to different people.

        Claim: epsilon-LDP for each report. A value outside the domain or the bounds is refused by its row; `row` is the
        number of the first one.
        """
        encoded = self._scheme.encode(values, row)
        source = SystemEntropy() if entropy is None else entropy
        return Reports(self._scheme, self.fingerprint, self._scheme.draw(encoded, source))

    def report(self, value: Any, *, entropy: Entropy | None = None) -> dict[str, Any]:
        """One person's report, ready for JSON. A second report about the same person costs epsilon again."""
        values = {name: [one] for name, one in value.items()} if isinstance(value, dict) else [value]
        return self.randomise(values, entropy=entropy).rows[0]


class Server:
    """The side that collects: it adds reports up as they come, and estimates."""

    __slots__ = ("_scheme", "_tally", "fingerprint", "users")

    def __init__(self, scheme: Scheme) -> None:
        self._scheme = scheme
        self._tally = scheme.tally()
        self.fingerprint = fingerprint(scheme.spec())
        self.users = 0

    def add(self, reports: "Reports | Iterable[Any]") -> "Server":
        """Count reports: those of `randomise`, or dictionaries or lines of JSON in any number.

        Reports made with other parameters, and anything that is no report, are refused by their row. The rows before
        it in the same call may be counted already: throw the server away.
        """
        if isinstance(reports, Reports):
            if reports.mark != self.fingerprint:
                raise reports_of_another(self.users + 1, self.fingerprint, reports.mark)
            self._count(reports.columns)
            return self
        waiting = iter(reports)
        while batch := list(islice(waiting, BATCH)):
            payloads = [self._payload(one, self.users + place) for place, one in enumerate(batch, start=1)]
            self._count(self._scheme.columns(payloads, self.users + 1))
        return self

    def _count(self, columns: Columns) -> None:
        self._tally = self._scheme.add(self._tally, columns)
        self.users += len(columns[0])

    def _payload(self, one: Any, row: int) -> Any:
        if isinstance(one, str | bytes):
            try:
                one = json.loads(one)
            except ValueError:
                raise report_wrong(row, "this is not JSON") from None
        if not isinstance(one, dict) or one.keys() != {"protocol", "report"}:
            raise report_wrong(row, 'this is not {"protocol": …, "report": …}')
        if one["protocol"] != self.fingerprint:
            found = one["protocol"] if isinstance(one["protocol"], str) else "no fingerprint"
            raise reports_of_another(row, self.fingerprint, found[:16])
        return one["report"]

    def merge(self, other: "Server") -> "Server":
        """Add what another server counted, of the same specification."""
        if other.fingerprint != self.fingerprint:
            raise reports_of_another(self.users + 1, self.fingerprint, other.fingerprint)
        self._tally = self._scheme.merge(self._tally, other._tally)
        self.users += other.users
        return self

    def estimate(self, confidence: float = CONFIDENCE) -> Any:
        """What the reports tell: an `Estimate`, a `MeanEstimate` or several. Post-processing: it costs nothing."""
        quantile(confidence)
        if not self.users:
            raise no_reports()
        return self._scheme.finish(self._tally, self.users, confidence)


@dataclass(frozen=True, slots=True)
class Protocol:
    """A collection: the same public parameters for the clients and the server."""

    scheme: Scheme

    @property
    def epsilon(self) -> float:
        """What one report costs the person it is about."""
        return self.scheme.epsilon

    @property
    def name(self) -> str:
        return str(self.scheme.spec()["protocol"])

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.scheme.spec())

    def client(self) -> Client:
        return Client(self.scheme)

    def server(self) -> Server:
        return Server(self.scheme)

    def randomise(self, values: Any, *, entropy: Entropy | None = None) -> Reports:
        """`client().randomise`."""
        return self.client().randomise(values, entropy=entropy)

    def estimate(self, reports: Reports | Iterable[Any], confidence: float = CONFIDENCE) -> Any:
        """A new server's estimate from these reports."""
        return self.server().add(reports).estimate(confidence)

    def spec(self) -> dict[str, Any]:
        """The public parameters as JSON; `sf.local.load` makes the protocol from them."""
        return self.scheme.spec()

    def save(self, path: str | Path) -> None:
        """Write the specification for clients and servers elsewhere."""
        try:
            Path(path).write_text(json.dumps(self.spec(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}.", "Choose another file.") from None


def read_spec(path: str | Path) -> Any:
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise DataUnreadable(f"{path} cannot be read: {error.strerror}.", "Check the path.") from None
    except ValueError:
        raise DataUnreadable(
            f"{path} is not JSON.", "Write it with protocol.save(path) or sfumato local plan."
        ) from None
