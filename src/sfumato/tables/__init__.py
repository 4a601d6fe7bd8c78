"""One reader of files and frames, with the same rules wherever a table is read that no budget guards.

kinds     what a file holds, by its name or by what is said of it
streams   its bytes, unpacked where it is compressed; pipes
texts     CSV: separator and columns by the first line, every cell a text
objects   JSON: one value per line, or one array
arrow     Parquet, Arrow and Feather
frames    pandas, Polars and Arrow tables, lists of dicts
reading   all of these as one Arrow table, or a batch at a time
"""
