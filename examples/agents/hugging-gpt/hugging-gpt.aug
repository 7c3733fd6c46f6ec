// Plan, choose models, run, answer. Each task of the plan is served by schemas/run-model.aug.
const idea = PlanTasks({
  prompt,
  tasks: Plan(
    TextClassification_Activity,
    TokenClassification_Activity,
    Text2textGeneration_Activity,
    Summarization_Activity,
    Translation_Activity,
    QuestionAnswering_Activity,
    Conversational_Activity,
    TextGeneration_Activity,
    SentenceSimilarity_Activity,
    TabularClassification_Activity,
    ObjectDetection_Activity,
    ImageClassification_Activity,
    ImageToText_Activity,
    TextToImage_Activity,
    ImageToImage_Activity,
    VisualQuestionAnswering_Activity,
    DocumentQuestionAnswering_Activity,
    ImageSegmentation_Activity,
    DepthEstimation_Activity,
    TextToVideo_Activity,
    TextToSpeech_Activity,
    AutomaticSpeechRecognition_Activity,
    AudioToAudio_Activity,
    AudioClassification_Activity,
  ),
});

"Answer with the help of models"
  | when idea.tasks @ { maxItems: 0 }
        or idea.tasks @ {
          maxItems: 1,
          items: {
            properties: {
              tool: {
                enum: [
                  "conversational_Activity",
                  "summarization_Activity",
                  "translation_Activity",
                  "text-generation_Activity",
                  "text2text-generation_Activity",
                ],
              },
            },
          },
        } {
      AnswerDirectly(prompt)
    } else {
      const records = SortRecords_Activity(RunPlan_Activity(idea.tasks));
      AnswerFromRecords(prompt, records)
    };
