// A manager: its calls go to tools, and to other agents, which are tools as well.
"Answer with the help of a team"
  | repeat {
      const act = try {
        Act(prompt, rounds, { plan: Plan(Researcher_Activity, Sum_Activity) @ { maxItems: 20 } })
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
