// A member of the team, an agent of its own: it searches until it can report, 5 rounds at most. Serves researcher_Activity.
"Report on a task"
  | do {
      const done = repeat {
        const look = Look(prompt, rounds, { calls: Plan(Search_Activity) @ { maxItems: 5 } });
        const found = RunPlan_Activity(look.calls);
        look
      } until look.report @ { type: "string" } max 5 else {
        Report(prompt, rounds)
      };
      done.report
    };
