"""How the items are shown: the form of their results, their figures and their text."""
