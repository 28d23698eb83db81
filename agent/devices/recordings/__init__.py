"""What a phone printed, without what tells of its owner, so that anybody can send it to us."""
