"""Graph to graph of flat schemas, and checks that need the schemas."""
