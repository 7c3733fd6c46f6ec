"""Plans and tools in TaskBench format: read, written, scored, sampled."""
