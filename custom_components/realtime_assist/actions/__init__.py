"""What the actions do: one module for each kind; `services.py` registers them."""
