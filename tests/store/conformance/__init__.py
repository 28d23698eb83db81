"""What every store and every dispatcher promises, held against each of them."""
