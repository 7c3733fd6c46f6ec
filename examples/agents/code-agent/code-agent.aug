// Write code, run it, look at what it printed: until it calls final_answer, 20 rounds at most.
"Solve it with code"
  | repeat {
      const act = WriteCode(prompt, rounds);
      const seen = RunCode_Activity(act);
      seen
  } until seen.final max 20 else { ProvideFinalAnswer(prompt, rounds) };
