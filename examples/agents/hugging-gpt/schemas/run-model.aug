// Stages two and three for one task: who could do it, who does it, what comes of it. Serves all activities of the plan.
input called;

const listed = ListModels_Activity({ called });

when listed.by is "language model" {
  WriteRecord_Activity({
    made: DoYourself({ task: listed.task, inputs: prompt }),
    taken: { id: "language model", reason: "It does this itself." },
  })
} else {
  const answers = each model in listed.models {
    try { AskStatus_Activity({ model: model.id }) } else { { loaded: false } }
  };
  const offered = OfferModels_Activity({ listed, answers });
  const taken = when offered.count is 0 {
    Fail(offered.error)
  } else when offered.count is 1 {
    offered.only
  } else {
    ChooseModel(listed.task, prompt, offered.models, { id: OneOf(offered.ids) })
  };
  WriteRecord_Activity({
    made: RunInference_Activity({ model: taken.id, task: listed.task, inputs: prompt }),
    taken,
  })
}
