"""What providers accept, and the way to them and back: dialects, lowering, lifting."""
