"""What is known of models, and what is not."""

import pytest

from custom_components.realtime_assist.models import (
    MODELS,
    UNKNOWN,
    minute_price,
    model_facts,
)


def test_a_snapshot_is_its_model() -> None:
    """Who pins a version pays what that model costs, and one that is named has its own window."""
    assert model_facts("gpt-realtime-2.1-2026-07-01") == MODELS["gpt-realtime-2.1"]
    assert model_facts("gpt-realtime-mini-2025-12-15").context == 128_000
    assert model_facts("gpt-realtime-mini").context == 32_000


@pytest.mark.parametrize("model", ["a-model-of-mine", "", "gpt-realtime-2.1-turbo"])
def test_an_unknown_model_has_no_price(model: str) -> None:
    """What a model costs that is in no table is unknown; it is not guessed from its name."""
    assert model_facts(model) == UNKNOWN
    assert model_facts(model).prices is None


def test_prices_are_those_of_one_provider() -> None:
    """A server at home that calls its model as OpenAI does is not billed as OpenAI."""
    assert model_facts("gpt-realtime-2.1", "openai").prices is not None
    assert model_facts("gpt-realtime-2.1", "openai_compatible").prices is None
    assert model_facts("gemini-3.8-live", "gemini").prices is not None
    assert minute_price("gpt-realtime-whisper") == 0.017
    assert minute_price("gpt-realtime-whisper", "openai_compatible") is None
    assert minute_price(None) is None
