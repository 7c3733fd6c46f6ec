// What a newcomer mistypes; each is named, and the parser goes on.
const people = IdentifyPeople(prompt));
const mail => Draft(people);
const sent = Draft(people: people slot: people);
"Draft a letter" | IdentifyPeople | Draft |
