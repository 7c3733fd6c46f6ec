// One message: classify, select, check, execute. Each way ends with the history that it leaves.
input history @ { type: "array", items: { type: "object" } };

const asked = Tell_Activity({ row: "2 enter", history });
const intent = try {
  Classify(Recent_Activity(asked))
} else {
  when error.kind is "invalid" {
    Tell_Activity({ row: "2 LLM response parse error", history: asked, error })
  } else {
    Tell_Activity({ row: "2 LLM request error", history: asked, error })
  }
  Fail(error)
};

when intent.relevant {
  Choose(history: Tell_Activity({ row: "2 relevant", history: asked }))
} else {
  Tell_Activity({ row: "2 irrelevant", history: asked })
}
