"""What an engine keeps between the draws of an envelope: rows of a source that were worked out once."""

from collections.abc import Sequence
from contextlib import ExitStack

from sfumato.engines.protocol import Engine, Engines
from sfumato.engines.sql.sources import Names
from sfumato.errors import plan_refused
from sfumato.kernel.certify import Certified
from sfumato.plan.sources import Kept, outermost
from sfumato.schema.table import Schema


class Copies:
    """Copies of sources, each as long as draws want it, and no longer than the data are in the state they were made of.

    Claim: whoever reads a copy reads the rows of its source in the state of the data that their draw names.
    Proof: the engine makes it of that state (`Engine.kept`), and all are dropped when a draw names another state, or
    another description of the table.
    Needs: asked by the door alone, which holds the engine's slot, and which closes them wherever a draw ends with an
    error.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._of: tuple[str, Schema] | None = None
        self._kept: dict[Kept, tuple[str, ExitStack]] = {}

    def are_of(self, engine: Engines) -> bool:
        return self._engine is engine

    def names(self, plans: Sequence[Certified], version: str) -> Names:
        """Under which names the engine has what these plans want kept; what they do not want is dropped."""
        wanted = dict.fromkeys(kept for certified in plans for kept in outermost(certified.plan.table))
        if any(certified.schema != plans[0].schema for certified in plans) and wanted:
            raise plan_refused("it wants rows kept that others describe otherwise")
        if self._of != (version, plans[0].schema):
            self.close()
            self._of = version, plans[0].schema
        for kept in wanted:
            self._keep(kept, plans[0].schema, version)
        for other in self._kept.keys() - wanted.keys():
            self._drop(other)
        return self._names()

    def close(self) -> None:
        """Forgets all first: what a Ctrl-C leaves behind is read by nobody."""
        left, self._kept, self._of = self._kept, {}, None
        for _, until in left.values():
            until.close()

    def _keep(self, kept: Kept, schema: Schema, version: str) -> None:
        if kept in self._kept:
            return
        for inner in outermost(kept.source):
            self._keep(inner, schema, version)
        until = ExitStack()
        name = until.enter_context(self._engine.kept(kept.source, schema, version, self._names()))
        self._kept[kept] = name, until

    def _drop(self, kept: Kept) -> None:
        _, until = self._kept.pop(kept)
        until.close()

    def _names(self) -> Names:
        return {kept: name for kept, (name, _) in self._kept.items()}
