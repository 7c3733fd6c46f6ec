// The same process step by step. Names are for the reader: no byte of the artefact depends on them.
const who = IdentifyParticipants(prompt);
const query = FetchAvailability(who);
const calendars = FetchAvailability_Activity(query);
const time = Introspect_Mixin(FindCommonSlot(calendars));
const letter = DraftInvitation(who, time);
const verdict = ConfirmInvitation_User(draft: letter, slot: time);

"Schedule a meeting"
  | when verdict.decision is "Approve" {
      const results = each person in who.attendees {
        const result = try {
          SendInvitation_Activity(person: person, draft: letter)
        } else {
          NoteFailure_Activity({ person, error })
        };
        result
      };
      results
    } else {
      const close = ThankForTheirTime(verdict.comment);
      close
    };
