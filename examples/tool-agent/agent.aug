// An agent: it plans what to look up, reads what came back, and goes on until it can answer.
"Find out and answer"
  | repeat {
      const act = Act(
        prompt,
        rounds,
        { plan: Plan(Search_Activity, Weather_Activity) @ { maxItems: 5 } },
      );
      const seen = RunPlan_Activity(act.plan);
      act
    } until act.answer @ { type: "string" } max 8 keep 4 else {
      AnswerWithWhatThereIs(prompt, rounds)
    };
