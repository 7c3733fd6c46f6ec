"""Plans and tools in the form of TaskBench: read, written, scored, sampled."""
