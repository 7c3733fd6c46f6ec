// Three reviews in one call of the model: every step once a review, no arrays.
"Answer reviews" | Introspect_Mixin(ClassifyReview) | AnswerReview;
