"""From plan to artefacts: views, processes, direct calls, batches."""
