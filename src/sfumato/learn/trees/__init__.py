"""Classes and numbers by questions about columns, chosen privately: trees, and forests of them."""
