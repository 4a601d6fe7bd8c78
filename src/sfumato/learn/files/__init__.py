"""Models as files: what may stand in one, and reading it back."""
