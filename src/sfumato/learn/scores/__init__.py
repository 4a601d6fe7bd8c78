"""Classes and numbers by scores that add up over columns: naive Bayes, and what is learnt on top of it."""
