"""Models: whatever fills in a chunk."""
