"""Check many files: on all cores, and only those about which nothing is known."""
