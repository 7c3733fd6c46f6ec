"""A schema, fitted to what a provider takes: payload, way back, losses."""
