"""What runs items, keeps their repeats, records their results and makes the page of them."""
