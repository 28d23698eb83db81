"""Operations on sessions by an operator, a program or a restart."""
