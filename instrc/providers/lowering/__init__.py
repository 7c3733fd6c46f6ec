"""Lower a schema to what a provider accepts: payload, reverse map, losses."""
