// Read a letter, think, answer it: one tool, filled in from top to bottom.
// `instrc compile answer.aug` prints it; `instrc preview answer.aug` shows what the model receives.
"Answer a letter"
  | ReadLetter
  | Introspect_Mixin(WriteReply)
