"""A bug to plant."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutant:
    """`old` occurs once in `file` and becomes `new`; `harm` says what that does to people or to the budget."""

    name: str
    file: str
    old: str
    new: str
    harm: str
    tests: tuple[str, ...]

    def planted(self, source: str) -> str:
        found = source.count(self.old)
        if found != 1:
            raise ValueError(f"{self.name}: its old text occurs {found} times in {self.file}, not once")
        return source.replace(self.old, self.new)
