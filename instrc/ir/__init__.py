"""The forms a program takes on its way, one file a stage: surface, graph, plan, artefact."""
