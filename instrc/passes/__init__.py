"""From surface to plan, one pure function a file."""
