"""Tables under a public, declared schema: from any frame or file to coded columns, marginals and back."""
