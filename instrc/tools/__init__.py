"""Read tools from the values that users have, and the plans that call tools."""
