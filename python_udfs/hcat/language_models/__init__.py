"""One endpoint with the chat completions protocol: requests, retries, budgets and repairs."""
