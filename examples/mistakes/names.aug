// Names that lead nowhere, values taken for instructions, slots that are not there.
const people = IdentifyPeple(prompt);
const draft = Draft({ subjekt: "Hello" });
const circle = Draft(circle);
const idle = Draft(prompt);
draft(people)
