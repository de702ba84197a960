"""Another sentence in nearly the same words: its numbers, negations and antonyms."""
