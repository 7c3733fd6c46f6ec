"""Write typed classes of Python for schemas: the arguments of a tool, its steps, its results."""
