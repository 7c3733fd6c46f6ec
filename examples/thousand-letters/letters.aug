// One letter at a time is read; an angry one gets a first word. A thousand of them stream through.
const letter = ReadLetter(prompt);

when letter.angry { WriteFirstWord(prompt, letter.topic) }
