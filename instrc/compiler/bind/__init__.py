"""Surface to graph: names get their meaning, calls become steps."""
