"""The same life in a house, on every known server, and under seeded mixes of what is not known.

At every answer: what is known now was told; what was forgotten, or never heard, was not; no turn is
lost; no id was used twice.
"""

import random
from dataclasses import dataclass
from typing import Final, override

import pytest

from custom_components.realtime_assist.items import FACTS
from custom_components.realtime_assist.realtime import hearing
from custom_components.realtime_assist.realtime.exchange import Exchange
from custom_components.realtime_assist.realtime.refresh import RefreshState
from tests.loopback import (
    OPENAI,
    PERSONALITIES,
    Call,
    ItemView,
    LoopbackServer,
    RealClock,
    Reply,
    Request,
    ScriptedBrain,
    Speech,
    Transcript,
)

from .rig import Record, Result, Rig, quiet, rig, speech

pytestmark = pytest.mark.usefixtures("socket_enabled")

OFFICIAL: Final = {"openai", "azure"}
SPEAKING: Final = sorted(PERSONALITIES)


@dataclass
class Mind(ScriptedBrain):
    """Understands a question by its length, and answers it with its number."""

    rate: int = 24_000
    """At which the server takes our audio to be."""

    @override
    async def hear(self, audio: bytes) -> Transcript:
        self.hears = [f"question {self._question(audio)}."]
        if not any(audio):
            self.hears = [""]
        return await super().hear(audio)

    @override
    async def reply(self, request: Request) -> Reply:
        last = next(v for v in reversed(request.context) if self.words(v).startswith("question"))
        asked = self.words(last)
        number = asked.removeprefix("question ").removesuffix(".")
        if request.tools and int(number or 0) % 5 == 3 and not self._answered(request, last):
            self.replies = [[Speech("One moment."), Call("HassTurnOn", "{}")]]
        else:
            self.replies = [Speech(f"answer {number} and so on and on until the end.")]
        return await super().reply(request)

    @override
    def words(self, item: ItemView) -> str:
        if item.role == "user" and item.audio:
            return f"question {self._question(item.audio)}."
        return super().words(item)

    def _question(self, audio: bytes) -> int:
        """Return the number of a question by its length."""
        return round((len(audio) / 48 * self.rate / 24_000 - 300) / 10)

    @staticmethod
    def _answered(request: Request, last: ItemView) -> bool:
        behind = request.context[request.context.index(last) :]
        return any(view.kind == "output" or "[outcome]" in view.text for view in behind)


def asking(number: int) -> bytes:
    """Return the audio of a question, at 16 kHz."""
    return speech(300 + 10 * number)


class House:
    """One house that lives on one server, and what must hold in it."""

    def __init__(self, rigged: Rig, brain: Mind, seed: int) -> None:
        """Begin with nothing known."""
        self.rig = rigged
        self.brain = brain
        self.dice = random.Random(seed)  # noqa: S311 - repeatable
        self.gone: set[str] = set()
        self.unheard: set[str] = set()
        self.told: list[str] = []
        self.asked = 0
        self.values = 0

    async def turn(self, *, stop_at: int | None = None) -> None:
        """Take a spoken turn; `stop_at`: milliseconds that are heard of the answer."""
        exchange = await self._ask(asking(self.asked))
        if stop_at is not None:
            await self.rig.until(
                lambda: exchange.speech.received_ms >= 300 or exchange.answers.replies.ended, 10
            )
            exchange.interrupt(stop_at)
        result = await self.rig.take(exchange)
        await exchange.heard()
        assert result.end.failure is None, result.end.failure
        self._check(exchange)
        self._close(exchange, result.text, stop_at)

    async def noise(self) -> None:
        """Wake by mistake: nobody says anything."""
        exchange = await self._ask(quiet(700))
        heard = await exchange.heard()
        assert heard.how in {hearing.How.NO_SPEECH, hearing.How.LATE}
        exchange.cancel()
        await self.rig.take(exchange)
        exchange.close()
        self.rig.session.settle(exchange.turn_id)

    def learn(self) -> None:
        """Let the house know something new."""
        self.values += 1
        self.rig.record.facts[self.dice.choice("abc")] = f"value{self.values}x"
        self.rig.session.changed()

    def forget(self) -> None:
        """Take everything back that the house knows."""
        facts = self.rig.record.facts
        self.gone |= {f"value{n}x" for n in range(1, self.values + 1)}
        facts.clear()
        self.rig.session.revoke([FACTS])

    async def update(self, *, full: bool = False) -> None:
        """Call memory.update."""
        done = await self.rig.session.refresh(full=full, seconds=15)
        assert done.state is not RefreshState.DEFERRED, done

    async def act(self, what: str) -> None:
        """Let one thing happen."""
        match what:
            case "turn":
                await self.turn()
            case "stop":
                await self.turn(stop_at=self.dice.choice([0, 100, 250]))
            case "learn":
                self.learn()
            case "forget":
                self.forget()
            case "noise":
                await self.noise()
            case "drop":
                for session in self.rig.server.open_sessions:
                    session.close(1006)
            case "restart":
                self.rig.session.restart()
            case _:
                await self.update(full=what == "full")

    async def _ask(self, pcm: bytes) -> Exchange:
        self.asked += 1
        exchange = self.rig.begin()
        await self.rig.speak(exchange, pcm)
        self.rig.record.now = f"turn {self.asked}"
        exchange.end_of_speech(respond=True)
        return exchange

    def _close(self, exchange: Exchange, text: str, stop_at: int | None) -> None:
        record = exchange.record
        cuts: dict[int, int] = {}
        if stop_at is not None:
            left = float(stop_at)
            for said in record.said:
                heard = min(left, said.received_ms)
                left -= heard
                cuts[said.index] = int(heard)
            text = ""
            if record.said:
                self.unheard.add(f"answer {self.asked - 1} and so on and on until the end")
        words = f"question {self.asked - 1}. {text}"
        self.told.append(f"question {self.asked - 1}.")
        self.rig.close(Result(exchange), text=words, heard_ms=cuts)

    def _check(self, exchange: Exchange) -> None:
        """See what the model had when it answered last."""
        if not exchange.record.said and exchange.record.interrupted:
            return
        request = self.brain.requests[-1]
        seen = " ".join(self.brain.words(view) for view in request.context)
        for key, value in self.rig.record.facts.items():
            assert f"{key}={value}" in seen
        for value in self.gone:
            assert value not in seen, f"forgotten {value} was told"
        for words in self.unheard:
            assert words not in seen, f"unheard: {words}"
        for words in self.told:
            assert words in seen, f"lost: {words}"
        ids = [
            event["item"]["id"]
            for session in self.rig.server.sessions
            for event in session.received_of("conversation.item.create")
        ]
        assert len(ids) == len(set(ids))


@pytest.mark.parametrize("name", SPEAKING)
async def test_a_day_in_the_house(name: str) -> None:
    """Questions, tools, memory, forgetting and interruptions work on every known server."""
    brain = Mind(rate=16_000 if name == "no_delete" else 24_000)
    server = LoopbackServer(
        brain, personality=PERSONALITIES[name], any_model=True, clock=RealClock(10)
    )
    async with server, rig(server, compatible=name not in OFFICIAL) as rigged:
        house = House(rigged, brain, 1)
        house.learn()
        await house.turn()
        house.learn()
        await house.update()
        await house.turn(stop_at=200)
        await house.turn()
        await house.turn()
        house.forget()
        house.learn()
        await house.update()
        await house.turn()
        await house.noise()
        await house.turn()
        await house.update(full=True)
        await house.turn()
        text = await rigged.text_turn("question 3.")
        assert text.end.failure is None


@pytest.mark.parametrize("name", ["openai", "localai", "hugging_face", "xai", "no_delete", "mute"])
@pytest.mark.parametrize("seed", range(2))
async def test_a_life_in_the_house(name: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever happens in whatever order, the model knows what it should and nothing else."""
    monkeypatch.setattr(hearing, "LATE_SECONDS", 0.5)
    personality = PERSONALITIES.get(name, OPENAI)
    brain = Mind(rate=16_000 if name == "no_delete" else 24_000)
    server = LoopbackServer(
        brain,
        personality=personality,
        switches=personality.mixed(seed),
        any_model=True,
        clock=RealClock(20),
        seed=seed,
    )
    async with server, rig(server, compatible=name not in OFFICIAL, record=Record()) as rigged:
        house = House(rigged, brain, seed)
        acts = ["turn"] * 6 + ["stop", "stop", "learn", "learn", "forget", "noise", "drop"]
        for _ in range(25):
            await house.act(house.dice.choice([*acts, "update", "full", "restart"]))
        await house.turn()
