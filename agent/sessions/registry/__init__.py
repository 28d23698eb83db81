"""The live sessions in memory, who is attached to them, and the services that rooms share."""
