"""What a tool is, from whatever a user gives, and the plans that call tools."""
