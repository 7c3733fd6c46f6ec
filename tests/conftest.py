"""Its presence makes `programs` importable from the tests of every part."""
