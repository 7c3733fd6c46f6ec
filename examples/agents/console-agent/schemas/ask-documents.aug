// The first service: an answer from documents. It is asked how it is before it is asked anything else.
input history @ { type: "array", items: { type: "object" } };
input question @ { type: "string" };
input top_k @ { type: "integer" };

const entered = Tell_Activity({ row: "5 enter", history });
const health = try {
  { status: RagHealth_Activity({ after: entered }).status, history: entered }
} else {
  {
    status: "unreachable",
    history: Tell_Activity({
      row: "5 rag_search: /health request failed",
      history: entered,
      error,
    }),
  }
};

when health.status is "ok" {
  try {
    const found = RagSearch_Activity({ question, top_k, after: health.history });
    when found.error @ { type: "string" } {
      Tell_Activity({
        row: "5 rag_search: /search answered with a field \"error\"",
        history: entered,
        found,
      })
    } else {
      const answered = Tell_Activity({ row: "5 rag_search: success (1)", history: entered, found });
      const titles = Tell_Activity({
        row: "5 rag_search: success (2)",
        history: answered,
        found,
        top_k,
      });
      Tell_Activity({ row: "5 rag_search: success (3)", history: titles, found })
    }
  } else {
    Tell_Activity({ row: "5 rag_search: /search request failed", history: entered, error })
  }
} else when health.status is "unreachable" {
  health.history
} else {
  Tell_Activity({ row: "5 rag_search: /health answered with status != ok", history: entered })
}
