"""The path of a program from text to artefacts: bind, compose, partition, emit; lint alongside."""
