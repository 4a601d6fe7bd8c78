"""Models as people see them: cards, lines of text, figures, SQL."""
