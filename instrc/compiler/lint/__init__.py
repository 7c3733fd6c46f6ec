"""What is suspicious in a vibe or a program."""
