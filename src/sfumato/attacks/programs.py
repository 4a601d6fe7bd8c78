"""The one door to SciPy's linear programs."""

from importlib import import_module
from typing import Any

from sfumato.errors import missing_extra


def scipy(module: str) -> Any:
    """A module of SciPy, or MissingExtra."""
    try:
        return import_module(f"scipy.{module}")
    except ImportError:
        raise missing_extra("reconstruction by linear program", "scipy", "attacks") from None
