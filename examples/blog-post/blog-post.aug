// Think first, write, think again, then grade: still one call of the model.
tool blog_post = SelfEvaluate_Mixin(Introspect_Mixin(BlogPost(prompt))) @ {
  properties: { "$qualityScore": { maximum: 5 } },
};
