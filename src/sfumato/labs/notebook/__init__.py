"""What a notebook imports: check, hint and show, in the student's language, without network."""

from sfumato.labs.notebook.session import lab

__all__ = ["lab"]
