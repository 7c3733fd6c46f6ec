"""Models: whatever completes a chunk."""
