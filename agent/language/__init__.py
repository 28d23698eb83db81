"""Read what people write: one fold, one tokeniser, numbers, amounts, dates and times as values."""
