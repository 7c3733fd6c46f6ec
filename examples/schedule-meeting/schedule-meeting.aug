// Who meets, when they are free, a time for both, an invitation, a yes, and it is sent.
"Schedule a meeting"
  | IdentifyParticipants
  | FetchAvailability_Activity
  | Introspect_Mixin(FindCommonSlot)
  | DraftInvitation
  | ConfirmInvitation_User
  | SendInvitation_Activity
