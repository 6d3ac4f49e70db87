"""One turn, timed on a real pipeline: ours, a bare client, a classic pipeline."""
