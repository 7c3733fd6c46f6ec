"""The targets that come with the package, one file for each family, as values."""
