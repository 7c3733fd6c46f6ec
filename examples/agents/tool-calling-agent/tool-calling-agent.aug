// Act, run the calls, observe: until there is an answer, 20 rounds at most; then one more call must answer.
// A text among the arguments that is the name of a stored value stands for that value: the program hands the values to the tools.
input stored @ { type: "object", default: {} };

"Answer with the help of tools"
  | repeat {
      const act = try {
        Act(
          prompt,
          stored,
          rounds,
          { plan: Plan(Multiply_Activity(stored), Weather_Activity(stored)) @ { maxItems: 20 } },
        )
      } else {
        // Answers that cannot be used cost a round and are shown in the next; an error of the service ends the run.
        when error.kind is "plan" or error.kind is "invalid" {
          { answer: null, error: error.message }
        } else {
          Fail(error)
        }
      };
      const seen = RunPlan_Activity(act.plan);
      act
    } until act.answer @ { not: { type: "null" } } max 20 else {
      ProvideFinalAnswer(prompt, rounds)
    };
