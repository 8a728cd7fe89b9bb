"""What is worked out exactly: worst cases of Gaussian ladders, and searches over finite tables."""
