"""What providers return, as it is read: envelopes, streams, calls that stand in a text."""
