"""Graph to graph of flat schemas, and what can be checked when these are known."""
