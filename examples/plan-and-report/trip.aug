// A trip is planned by the model, corrected by the traveller, carried out by the server, and told.
input traveller;

const idea = PlanTrip({
  prompt,
  plan: Plan(BookTrain_Activity(traveller), BookHotel_Activity(traveller)),
});
const checked = CheckPlan_User({
  idea,
  plan: Plan(BookTrain_Activity(traveller), BookHotel_Activity(traveller)),
});

"Book a trip"
  | when checked.decision is "Approve" {
      const done = RunPlan_Activity(checked.plan);
      Report(idea.budget, done)
    };
