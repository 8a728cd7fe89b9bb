"""Reports: what a run reached, what it cost and what that means, for the people who decide on its release."""
