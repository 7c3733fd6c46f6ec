"""Surface to graph: resolve names, and turn calls into steps."""
