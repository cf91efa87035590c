"""Tools: what the model may ask for; logic over a Workspace."""
