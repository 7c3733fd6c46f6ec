"""A schema, lowered to what a provider takes: payload, way back, losses."""
