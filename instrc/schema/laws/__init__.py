"""All laws of each keyword: a file a family, found by the table of keywords in `vocabulary` and loaded by `table`."""
