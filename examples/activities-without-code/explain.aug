// Explain a word: a dictionary is asked over HTTP, a model writes, a tool of an MCP server takes it down.
const meaning = LookUp_Activity(word: prompt);
const note = WriteNote(prompt, meaning);
KeepNote_Activity(title: prompt, text: note.text);
