"""Tests of the ways to summarise that need a home around them."""
