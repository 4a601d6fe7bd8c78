"""The limit in force: the one that the policy and the ledger agree on, or a later one of the owner's."""

from sfumato.ledger.book import Book
from sfumato.ledger.records import Records
from sfumato.ledger.terms import Terms
from sfumato.ledger.wordings import ledger_differs, limit_differs
from sfumato.schema.budget import Budget


class InForce:
    """What a session that was opened with one limit does when the ledger has another.

    Claim: gives a limit only if the policy says it, or if the policy has agreed with the ledger in this process and the
    newest change carries the mark of somebody who has the key. So whoever can write the ledger and nothing else grants
    nobody more.
    """

    def __init__(self, records: Records, policy: Budget) -> None:
        self._records, self.policy = records, policy
        self._agreed_at: int | None = None  # the entry whose limit policy and ledger agreed on

    def terms(self, book: Book) -> Terms:
        """Those of the limit in force, or UsageError."""
        if not self._is_agreed(book):
            raise limit_differs(str(book.limit), str(self.policy))
        return Terms(book.limit)

    def to_plan_with(self, book: Book) -> Terms:
        """The same; and those of the policy while the ledger has others, under which nothing is granted."""
        return Terms(book.limit if self._is_agreed(book) else self.policy)

    def record(self, when: str) -> None:
        """Make the policy's limit the one in force; its currency stays."""
        with self._records.writing() as (pen, book):
            if (book.limit.delta == 0) != (self.policy.delta == 0):
                raise ledger_differs("delta", str(book.limit.delta), str(self.policy.delta))
            pen.append("limit", {"when": when, **as_said(self.policy)})

    def _is_agreed(self, book: Book) -> bool:
        """Once both agreed, only a marked change is followed, also one back to what the policy says."""
        if self._agreed_at == book.limit_at:
            return True
        agreed = book.limit == self.policy if self._agreed_at is None else self._is_marked(book)
        if agreed:
            self._agreed_at = book.limit_at
        return agreed

    def _is_marked(self, book: Book) -> bool:
        return self._records.marks(book, self._records.proven(book, book.limit_at))


def as_said(limit: Budget) -> dict[str, str]:
    return {"epsilon": str(limit.epsilon), "delta": str(limit.delta)}
