// Write code, run it, look at what it printed: until it calls final_answer, 20 rounds at most.
"Solve it with code"
  | repeat {
      const act = WriteCode(prompt, Observe_Activity(rounds));
      const seen = do {
        const code = ReadCode_Activity({ act, rounds });
        // The code runs up to its next call of a tool. The call is an effect of the run; then the code goes on.
        repeat {
          const ran = RunCode_Activity({ code, done: rounds });
          const told = try {
            when ran.call.name is "multiply" {
              { value: Multiply_Activity(ran.call.arguments) }
            } else when ran.call.name is "look_up" {
              { value: LookUp_Activity(ran.call.arguments) }
            }
          } else {
            { error }
          };
          ran
        } until ran.ended max 1000
      };
      seen
    } until seen.final max 20 else {
      ProvideFinalAnswer(prompt, Observe_Activity(rounds))
    };
