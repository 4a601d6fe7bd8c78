"""What the commands say of their arguments."""

from sfumato.errors import UsageError


def policy_exists(path: str) -> UsageError:
    return UsageError(f"{path} exists already.", "Name another file with --output, or pass --force to overwrite it.")
