"""What is suspicious in a vibe: its schema, its references, its names, its solution; one check a file."""
