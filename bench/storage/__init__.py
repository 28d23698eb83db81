"""What storing costs: appends, losses, folds, and a store that is large."""
