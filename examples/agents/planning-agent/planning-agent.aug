// A plan before round 1 and every third round after it; between the plans: act, run the calls, observe.
"Answer with a plan and tools"
  | repeat {
      const outline = when round @ { enum: [1, 4, 7, 10, 13, 16, 19] } {
        MakePlan(prompt, round, WithoutPlans_Activity(rounds))
      } else {
        previous.outline
      };
      const act = try {
        Act(
          prompt,
          outline,
          rounds,
          { plan: Plan(Distance_Activity, Divide_Activity) @ { maxItems: 20 } },
        )
      } else {
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
