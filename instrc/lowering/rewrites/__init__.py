"""One file a rewrite: how a shape of JSON Schema is said in the words of a target that lacks it."""
