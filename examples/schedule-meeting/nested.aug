// The same process with as few names as it takes: a name for what is read by a path or in a block.
const people = IdentifyParticipants(prompt);
const draft = DraftInvitation(
  people,
  Introspect_Mixin(FindCommonSlot(FetchAvailability_Activity(people))),
);
const answer = ConfirmInvitation_User(
  draft: draft,
  slot: Introspect_Mixin(FindCommonSlot(FetchAvailability_Activity(people))),
);

"Schedule a meeting"
  | when answer.decision is "Approve" {
      each person in people.attendees {
        try {
          SendInvitation_Activity({ person, draft })
        } else {
          NoteFailure_Activity({ person, error })
        }
      }
    } else {
      ThankForTheirTime(answer.comment)
    };
