"""What a fleet costs on this computer, with stand-ins or real parts, and what breaking it shows."""
