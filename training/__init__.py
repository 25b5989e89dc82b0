"""Learning: trajectories, rewards, the buffer, the policy engine and GRPO. Light to import: no torch, no ray."""
