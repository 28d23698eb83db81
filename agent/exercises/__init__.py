"""Exercises: goals with starting states and checkers, by which models and loops are judged."""
