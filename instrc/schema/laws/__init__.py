"""All laws of each keyword: one file per family, looked up in the table of keywords in `vocabulary` and loaded by `table`."""
