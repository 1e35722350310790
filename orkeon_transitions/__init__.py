"""State machines that keep LLM agents from running away."""
