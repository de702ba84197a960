"""Optional metrics judged by a language model: prompts, strict reading of replies, scores, ledger and agreement."""
