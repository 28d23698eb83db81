"""What carries out which op: a class a subject, a method an op."""
