"""Check many files: on all cores, and only those that have changed since they were found sound."""
