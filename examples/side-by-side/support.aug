// Two instructions side by side: the first one colours how the second is filled in.
tool support = { tone: ChooseTone, answer: AnswerQuestion };
