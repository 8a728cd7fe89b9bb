"""Small tables to try things on."""
