"""Which stages took a turn: the ContextVar only proposes it, and whoever claims it needs proof.

Everything that a turn starts inherits its context. A tool that makes speech, or an automation that
talks to an agent, would find this turn, and must not get it.
"""


class Claims:
    """The claims on one turn, each to be had once."""

    def __init__(self, subentry_id: str, conversation_id: str | None, *, answering: bool) -> None:
        """Begin unclaimed; `answering`: whoever began it answers it, too."""
        self._subentry_id = subentry_id
        self._conversation_id = conversation_id
        self._words = ""
        self.answering = answering
        """Whether the conversation stage took it."""
        self.speaking = False
        """Whether the text-to-speech stage took it."""

    def said(self, words: str) -> None:
        """Note words that were put into the chat log: whoever speaks the turn has to show them."""
        self._words += words

    def answer(self, subentry_id: str, conversation_id: str) -> bool:
        """Return whether a stage may answer: the first, in the turn's own conversation."""
        if self.answering or subentry_id != self._subentry_id:
            return False
        self.answering = conversation_id == self._conversation_id
        return self.answering

    def speak(self, subentry_id: str, first: str) -> bool:
        """Return whether a stage may speak: the first, with the first words of the answer."""
        if self.speaking or subentry_id != self._subentry_id:
            return False
        self.speaking = bool(first) and self._words.startswith(first)
        return self.speaking
