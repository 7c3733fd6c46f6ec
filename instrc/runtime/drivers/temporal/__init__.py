"""The driver for clusters: runs as workflows of Temporal."""
