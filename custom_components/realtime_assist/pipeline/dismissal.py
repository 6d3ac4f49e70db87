"""Hear "never mind" and "stop" for what they are, in the user's language: no question at all.

Only where they are all that was said: "stop the music" is a wish. And not where they are one of the
answers that were offered: after "Shall I stop it?" a "stop" is meant for whoever asked.
"""

import re
import unicodedata
from collections.abc import Mapping
from typing import Final

_PHRASES: Final[Mapping[str, str]] = {
    "en": "never mind, nevermind, nothing, stop, stop it, stop talking, be quiet, quiet",
    "de": "schon gut, ist schon gut, egal, ist egal, macht nichts, nichts, doch nicht, "
    "nicht so wichtig, ist nicht so wichtig, stopp, stop, halt, hör auf, sei still, ruhe",
    "nl": "laat maar, laat maar zitten, maakt niet uit, niets, niet zo belangrijk, "
    "stop, stop maar, hou op, wees stil, stil",
    "fr": "laisse tomber, laissez tomber, peu importe, ce n'est rien, c'est rien, rien, "
    "ce n'est pas grave, stop, arrête, arrêtez, arrête-toi, tais-toi, silence",
    "es": "da igual, no importa, déjalo, déjelo, nada, no es nada, "
    "stop, para, pare, basta, alto, detente, cállate, silencio",
    "it": "lascia stare, lascia perdere, non importa, non fa niente, niente, "
    "stop, basta, fermati, zitto, silenzio",
    "pt": "deixa estar, deixe estar, deixa pra lá, não importa, não faz mal, nada, "
    "stop, para, pare, pára, chega, silêncio",
    "pl": "nieważne, nic, to nic, stop, przestań, wystarczy, cisza",
    "sv": "strunt samma, det gör inget, det var inget, ingenting, stopp, stop, sluta, tyst",
    "da": "lige meget, det er lige meget, det gør ikke noget, ingenting, stop, hold op, stille",
}
_FRILLS: Final[Mapping[str, str]] = {
    "en": "please ok okay no oh ah well sorry thanks",
    "de": "bitte ok okay nein ach oh na danke sorry entschuldigung",
    "nl": "alsjeblieft ok oké nee ach oh sorry bedankt",
    "fr": "ok non oh ah bon merci pardon désolé",
    "es": "ok vale no oh ah bueno gracias perdón perdona",
    "it": "ok no oh ah grazie scusa",
    "pt": "ok não oh ah obrigado obrigada desculpe",
    "pl": "ok nie oh ach proszę dziękuję przepraszam",
    "sv": "ok okej nej åh tack förlåt",
    "da": "ok okay nej åh tak undskyld",
}
"""What is said around it without changing it."""

_WORD: Final = re.compile(r"\w+")


def is_dismissal(heard: str, language: str | None, offered: str = "") -> bool:
    """Return whether all that was heard means that nothing is wanted any more.

    `language` may have a region (`de-CH`). `offered`: what was said to the user just before.
    """
    code = (language or "en").replace("_", "-").partition("-")[0].lower()
    said = _bare(heard, code)
    if said not in _KNOWN.get(code, ()):
        return False
    before = _words(offered)
    return not any(before[at : at + len(said)] == said for at in range(len(before)))


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(unicodedata.normalize("NFC", text).casefold()))


def _bare(heard: str, code: str) -> tuple[str, ...]:
    """Return the words without the frills before and behind them."""
    words, frills = _words(heard), _FRILLS.get(code, "").split()
    while words and words[0] in frills:
        words = words[1:]
    while words and words[-1] in frills:
        words = words[:-1]
    return words


_KNOWN: Final = {
    code: frozenset(_bare(phrase, code) for phrase in phrases.split(","))
    for code, phrases in _PHRASES.items()
}
