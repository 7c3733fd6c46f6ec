// The same work with the cut and the keys chosen by hand.
"Schedule a meeting"
  | Process(
      LLM_Context({
        participants: IdentifyParticipants(prompt),
        query: FetchAvailability({ participants }),
      }) @ "Find out who meets and what to ask their calendars.",

      Server_Context({ calendars: FetchAvailability_Activity({ query }) }),

      LLM_Context({
        slot: Introspect_Mixin(FindCommonSlot({ calendars })),
        invitation: DraftInvitation({ participants, slot }),
      }) @ "Choose the time and write the invitation.",

      User_Context({ approval: ConfirmInvitation_User({ invitation, slot }) }),

      letters: when approval.decision is "Approve" {
        each person in participants.attendees { SendInvitation_Activity({ person, invitation }) }
      },
    );
