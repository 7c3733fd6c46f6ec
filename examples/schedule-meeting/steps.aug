// The same process step by step. Names are for the reader: no byte of the artefact depends on them.
const people = IdentifyParticipants(prompt);
const query = FetchAvailability(people);
const calendars = FetchAvailability_Activity(query);
const slot = Introspect_Mixin(FindCommonSlot(calendars));
const letter = DraftInvitation(slot);
const decision = ConfirmInvitation_User(letter);

"Schedule a meeting" | SendInvitation_Activity(decision)
