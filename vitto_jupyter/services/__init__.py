"""Services: own tasks, files, locks and time."""
