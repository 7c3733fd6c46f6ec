// Read a letter, think, answer it: one tool, filled in from top to bottom.
"Answer a letter" | ReadLetter | Introspect_Mixin(WriteReply);
