"""What the phone recorded is cut so that only the answer is left."""

import shutil
from pathlib import Path

import pytest

from .phone import NoAnswer, Phone, answer_of
from .processes import Processes
from .sound import Sound
from .test_sound import tone

pytest.importorskip("voip_utils", reason="the phone's counterpart is not in this environment")

from .phone import beep

_SAID = tone(800, 350, rising=300)
_ANSWER = tone(900, 700, rising=-200)


def test_the_answer_is_what_follows_the_beep() -> None:
    """The transcript of an answer holds no beep, and its delay counts from the last word."""
    sent = Sound.silence(500) + _SAID + Sound.silence(4000)
    before = Sound.silence(200) + beep("tone.pcm")
    waited = Sound.silence(1300 + 1000 - before.ms)
    received = (
        before + waited + beep("processing.pcm") + Sound.silence(100) + _ANSWER + Sound.silence(300)
    )
    answer, delay = answer_of(sent, received, _SAID)
    assert abs(delay_of(delay) - (1000 + beep("processing.pcm").ms + 100)) <= 20
    assert answer.find(_ANSWER) is not None
    assert answer.find(beep("processing.pcm")) is None


def test_silence_is_no_answer() -> None:
    """A call that brought nothing is a failure, not an empty success."""
    sent = Sound.silence(500) + _SAID + Sound.silence(2000)
    with pytest.raises(NoAnswer, match="silence"):
        answer_of(sent, Sound.silence(3300), _SAID)


@pytest.mark.skipif(shutil.which("baresip") is None, reason="baresip is not installed")
@pytest.mark.usefixtures("socket_enabled")
async def test_the_phone_lives_in_its_folder_and_on_loopback(tmp_path: Path) -> None:
    """Nobody else on the network can ring, and no sound card is needed."""
    async with Processes(tmp_path) as processes:
        phone = Phone(folder=tmp_path / "phone", processes=processes, server_port=5099)
        phone.prepare()
    config = (tmp_path / "phone/config").read_text()
    assert "net_interface 127.0.0.1" in config
    assert f"audio_source aufile,{tmp_path}/phone/in.wav" in config
    port = config.split("sip_listen 127.0.0.1:")[1].split()[0]
    assert f"@127.0.0.1:{port};" in (tmp_path / "phone/accounts").read_text()


def delay_of(delay: int | None) -> int:
    """Return a delay that must be known."""
    assert delay is not None
    return delay
