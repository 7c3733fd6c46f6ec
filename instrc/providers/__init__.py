"""What providers accept, and the conversion to and from it: dialects, lowering, lifting."""
