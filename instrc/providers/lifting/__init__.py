"""An answer of a model, brought back to our names and shapes."""
