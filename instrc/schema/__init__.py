"""JSON Schema algebra: references, `allOf`, slots, views, independent of `.aug`."""
