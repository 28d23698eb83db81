"""What Android prints, by version and maker: tables of lines, and the facts that differ."""
