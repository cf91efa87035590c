"""Commands in terminals that the user can watch."""
