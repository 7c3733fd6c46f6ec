// The second service: three lines on a theme.
input history @ { type: "array", items: { type: "object" } };
input theme @ { type: "string" };

const entered = Tell_Activity({ row: "5 enter", history });
const health = try {
  { status: HaikuHealth_Activity({ after: entered }).status, history: entered }
} else {
  {
    status: "unreachable",
    history: Tell_Activity({
      row: "5 generate_haiku: /health request failed",
      history: entered,
      error,
    }),
  }
};

when health.status is "ok" {
  try {
    const made = GenerateHaiku_Activity({ theme, after: health.history });
    when made.error @ { type: "string" } {
      Tell_Activity({
        row: "5 generate_haiku: /generate_haiku answered with a field \"error\"",
        history: entered,
        made,
      })
    } else {
      const poem = Tell_Activity({ row: "5 generate_haiku: success (1)", history: entered, made });
      const syllables = Tell_Activity({
        row: "5 generate_haiku: success (2)",
        history: poem,
        made,
      });
      Tell_Activity({ row: "5 generate_haiku: success (3)", history: syllables, made })
    }
  } else {
    Tell_Activity({
      row: "5 generate_haiku: /generate_haiku request failed",
      history: entered,
      error,
    })
  }
} else when health.status is "unreachable" {
  health.history
} else {
  Tell_Activity({ row: "5 generate_haiku: /health answered with status != ok", history: entered })
}
