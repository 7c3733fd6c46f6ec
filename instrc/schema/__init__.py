"""JSON Schema algebra: references, `allOf`, slots, views. It knows nothing of `.aug`."""
