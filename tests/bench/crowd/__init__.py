"""Many satellites at once, each way of serving them in a process of its own."""
