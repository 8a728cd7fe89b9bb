"""The search beside other methods: one task for all of them, predictors made of counts, a function for each method."""
