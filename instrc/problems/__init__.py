"""What can be wrong, as values.

A problem is a frozen dataclass of facts: spans, names, paths.
Its words are properties computed from them; its docstring is the page that `instrc explain` prints.
"""
