// A cut by hand that asks for an answer before the question.
Process(
  LLM_Context({ letter: Draft({ address }) }),
  User_Context({ address: AskAddress_User(prompt) }),
)
