"""All laws of each keyword: a file for each family, looked up in the table of keywords in `vocabulary` and loaded by `table`."""
