// The same process as nested calls: read it from the inside out.
"Schedule a meeting" | SendInvitation_Activity(
  ConfirmInvitation_User(
    DraftInvitation(
      Introspect_Mixin(FindCommonSlot(
        FetchAvailability_Activity(IdentifyParticipants(prompt))
      ))
    )
  )
)
