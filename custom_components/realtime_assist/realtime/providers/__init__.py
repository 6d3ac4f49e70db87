"""One module per kind of provider: how its wire says what `realtime.model` means."""
