"""A policy as a running model: the vLLM engine, its weights in flight, chat, and where models come from."""
