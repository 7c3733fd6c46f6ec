// Who meets, when all are free, an invitation, a yes, and a letter to each; after a no, nothing is sent.
const people = IdentifyParticipants(prompt);
const slot = Introspect_Mixin(FindCommonSlot(FetchAvailability_Activity(people)));
const draft = DraftInvitation(people, slot);
const answer = ConfirmInvitation_User({ draft, slot });

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
