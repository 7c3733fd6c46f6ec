"""What has changed between two schemas, or two processes, and for whom it breaks."""
