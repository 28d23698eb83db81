"""The page of paired phones: served by TLS on the network, signed statement by signed statement."""
