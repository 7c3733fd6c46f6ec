// A plan before round 1 and every third round after it; between the plans: act, run the calls, observe.
"Answer with a plan and tools"
  | repeat {
      const outline = when round @ { enum: [1, 4, 7, 10, 13, 16, 19] } {
        MakePlan(prompt, round, WithoutPlans_Activity(rounds))
      } else {
        previous.outline
      };
      const act = Act(
        prompt,
        outline,
        rounds,
        { plan: Plan(Distance_Activity, Divide_Activity) @ { maxItems: 10 } },
      );
      const seen = RunPlan_Activity(act.plan);
      act
    } until act.answer @ { not: { type: "null" } } max 20 else {
      ProvideFinalAnswer(prompt, rounds)
    };
