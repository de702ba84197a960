"""Language models behind the chat completions protocol: requests, retries, budgets and repairs of replies."""
