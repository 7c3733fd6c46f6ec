"""What a provider accepts, as data, and one walker that fits a schema to it."""
