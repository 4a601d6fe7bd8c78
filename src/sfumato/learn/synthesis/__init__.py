"""Tables of rows that nobody is: pairs of columns measured, and rows drawn that agree with them."""
