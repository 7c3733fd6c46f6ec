"""From a program and its settings to a run: what the API, the command line and servers share."""
