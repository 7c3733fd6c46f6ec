// Act, run the calls, observe: until there is an answer, 20 rounds at most; then one more call must answer.
"Answer with the help of tools"
  | repeat {
      const act = Act(
        prompt,
        rounds,
        { plan: Plan(Multiply_Activity, Weather_Activity) @ { maxItems: 10 } },
      );
      const seen = RunPlan_Activity(act.plan);
      act
    } until act.answer @ { not: { type: "null" } } max 20 else {
      ProvideFinalAnswer(prompt, rounds)
    };
