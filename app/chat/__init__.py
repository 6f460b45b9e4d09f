"""OpenAI's chat completions as another way to ask: a translation of requests and answers, and nothing else."""
