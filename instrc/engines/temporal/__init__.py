"""The engine for clusters: runs as workflows of Temporal."""
