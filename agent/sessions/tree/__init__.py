"""Parents and children: roll-up, delegation, and the apps that children work on."""
