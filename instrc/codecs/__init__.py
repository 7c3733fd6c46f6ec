"""The way back that a lowering leaves: a map, its codecs, and what reads and writes values by them."""
