"""From plan to artefacts: views, processes, direct calls, batches; their files and canonical JSON."""
