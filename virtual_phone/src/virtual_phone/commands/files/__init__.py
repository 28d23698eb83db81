"""Commands on files, directories and archives."""
