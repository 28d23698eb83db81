"""Video and warm input by the scrcpy server on a phone: our client of its protocol."""
