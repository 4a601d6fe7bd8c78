"""Privacy bugs that careful people have shipped, replayed against this code. Each file tells one story and its rule."""
