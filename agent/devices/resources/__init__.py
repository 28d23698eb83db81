"""What is taken on phones and on this computer, written down before it is taken and given back."""
