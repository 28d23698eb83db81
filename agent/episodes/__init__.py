"""Episodes on pooled phones: a task, actions, what is seen, what it is worth; no door to them."""
