"""What commands share: exits, settings, plain output, times, the pages made from them."""
