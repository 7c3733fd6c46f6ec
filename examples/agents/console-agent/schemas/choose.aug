// Which service, with which parameters: chosen by the model, checked by the settings.
input history @ { type: "array", items: { type: "object" } };

const asked = Tell_Activity({ row: "3 enter", history });
const choice = try {
  SelectTool(Recent_Activity(asked))
} else {
  when error.kind is "invalid" {
    Tell_Activity({ row: "3 LLM response parse error", history: asked, error })
  } else {
    Tell_Activity({ row: "3 LLM request error", history: asked, error })
  }
  Fail(error)
};

when choice.tool is "none" {
  Tell_Activity({ row: "3 no tool", history: asked })
} else {
  const chosen = Tell_Activity({ row: "3 tool chosen", history: asked, choice });
  const entered = Tell_Activity({ row: "4 enter", history: chosen });
  const checked = Check_Activity({ choice, after: entered });
  const told = Tell_Activity({ row: checked.row, history: entered, checked });

  when checked.ready is "rag_search" {
    AskDocuments(history: told, question: checked.value, top_k: checked.top_k)
  } else when checked.ready is "generate_haiku" {
    WriteHaiku(history: told, theme: checked.value)
  } else {
    told
  }
}
