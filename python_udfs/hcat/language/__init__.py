"""What a text says: its words, sentences, numbers, dates, names and records."""
