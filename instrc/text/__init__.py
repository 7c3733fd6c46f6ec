"""Text and the values in it: sources and spans, JSON in and out, files, names, durations."""
