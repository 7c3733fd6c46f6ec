"""Graph to graph of flat schemas, and the checks that need these."""
