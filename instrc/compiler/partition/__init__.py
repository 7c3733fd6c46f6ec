"""Graph of flat schemas to plan: the cut into chunks, and the keys of the steps."""
