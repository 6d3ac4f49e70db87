"""What the house says when the model cannot: a few sentences, in the user's language."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from ..realtime.errors import (
    AuthenticationFailed,
    CannotConnect,
    ConnectionLost,
    ModelNotFound,
    NotRealtime,
    QuotaExceeded,
    RateLimited,
    RealtimeError,
)


class Apology(StrEnum):
    """What went wrong, as far as somebody in the room can use it."""

    REFUSED = "refused"
    UNREACHABLE = "unreachable"
    QUOTA = "quota"
    BUSY = "busy"
    LOST = "lost"
    FAILED = "failed"


_KINDS: Final[Mapping[type[RealtimeError], Apology]] = {
    AuthenticationFailed: Apology.REFUSED,
    ModelNotFound: Apology.REFUSED,
    NotRealtime: Apology.UNREACHABLE,
    CannotConnect: Apology.UNREACHABLE,
    QuotaExceeded: Apology.QUOTA,
    RateLimited: Apology.BUSY,
    ConnectionLost: Apology.LOST,
}

_R, _U, _Q, _B, _L, _F = Apology

_SENTENCES: Final[Mapping[str, Mapping[Apology, str]]] = {
    "en": {
        _R: "Sorry, the voice service refuses my access. Please check my settings.",
        _U: "Sorry, I can't reach the voice service right now.",
        _Q: "Sorry, the credit for the voice service is used up.",
        _B: "Sorry, the voice service is busy. Please try again in a moment.",
        _L: "Sorry, the connection was lost. Please ask again.",
        _F: "Sorry, that didn't work. Please try again.",
    },
    "de": {
        _R: "Entschuldigung, der Sprachdienst lässt mich nicht zu. Prüfe meine Einstellungen.",
        _U: "Entschuldigung, ich erreiche den Sprachdienst gerade nicht.",
        _Q: "Entschuldigung, das Guthaben für den Sprachdienst ist aufgebraucht.",
        _B: "Entschuldigung, der Sprachdienst ist überlastet. Versuche es gleich noch einmal.",
        _L: "Entschuldigung, die Verbindung ist abgebrochen. Frage bitte noch einmal.",
        _F: "Entschuldigung, das hat nicht geklappt. Versuche es bitte noch einmal.",
    },
    "fr": {
        _R: "Désolé, le service vocal me refuse l'accès. Vérifiez mes paramètres.",
        _U: "Désolé, je n'arrive pas à joindre le service vocal pour le moment.",
        _Q: "Désolé, le crédit du service vocal est épuisé.",
        _B: "Désolé, le service vocal est surchargé. Réessayez dans un instant.",
        _L: "Désolé, la connexion a été interrompue. Répétez votre demande.",
        _F: "Désolé, cela n'a pas fonctionné. Veuillez réessayer.",
    },
    "es": {
        _R: "Lo siento, el servicio de voz me niega el acceso. Revisa mi configuración.",
        _U: "Lo siento, ahora mismo no puedo conectar con el servicio de voz.",
        _Q: "Lo siento, se ha agotado el saldo del servicio de voz.",
        _B: "Lo siento, el servicio de voz está saturado. Inténtalo de nuevo en un momento.",
        _L: "Lo siento, se ha perdido la conexión. Pregúntame otra vez.",
        _F: "Lo siento, no ha funcionado. Inténtalo de nuevo.",
    },
    "nl": {
        _R: "Sorry, de spraakdienst weigert mij de toegang. Controleer mijn instellingen.",
        _U: "Sorry, ik kan de spraakdienst nu niet bereiken.",
        _Q: "Sorry, het tegoed voor de spraakdienst is op.",
        _B: "Sorry, de spraakdienst is druk bezet. Probeer het zo nog eens.",
        _L: "Sorry, de verbinding is weggevallen. Vraag het nog een keer.",
        _F: "Sorry, dat is niet gelukt. Probeer het nog eens.",
    },
    "it": {
        _R: "Mi dispiace, il servizio vocale mi nega l'accesso. Controlla le mie impostazioni.",
        _U: "Mi dispiace, al momento non riesco a raggiungere il servizio vocale.",
        _Q: "Mi dispiace, il credito del servizio vocale è esaurito.",
        _B: "Mi dispiace, il servizio vocale è sovraccarico. Riprova tra un momento.",
        _L: "Mi dispiace, la connessione si è interrotta. Chiedi di nuovo.",
        _F: "Mi dispiace, non ha funzionato. Riprova.",
    },
    "pt": {
        _R: "Desculpe, o serviço de voz recusa o meu acesso. Verifique as minhas definições.",
        _U: "Desculpe, não consigo aceder ao serviço de voz neste momento.",
        _Q: "Desculpe, o saldo do serviço de voz acabou.",
        _B: "Desculpe, o serviço de voz está ocupado. Tente de novo daqui a pouco.",
        _L: "Desculpe, a ligação foi perdida. Pergunte outra vez.",
        _F: "Desculpe, não funcionou. Tente de novo.",
    },
    "pl": {
        _R: "Przepraszam, usługa głosowa odmawia mi dostępu. Sprawdź moje ustawienia.",
        _U: "Przepraszam, nie mogę teraz połączyć się z usługą głosową.",
        _Q: "Przepraszam, środki na usługę głosową się skończyły.",
        _B: "Przepraszam, usługa głosowa jest zajęta. Spróbuj za chwilę.",
        _L: "Przepraszam, połączenie zostało przerwane. Zapytaj jeszcze raz.",
        _F: "Przepraszam, nie udało się. Spróbuj ponownie.",
    },
    "sv": {
        _R: "Tyvärr nekar rösttjänsten mig åtkomst. Kontrollera mina inställningar.",
        _U: "Tyvärr kan jag inte nå rösttjänsten just nu.",
        _Q: "Tyvärr är saldot för rösttjänsten slut.",
        _B: "Tyvärr är rösttjänsten upptagen. Försök igen om en stund.",
        _L: "Tyvärr bröts anslutningen. Fråga igen.",
        _F: "Tyvärr gick det inte. Försök igen.",
    },
    "da": {
        _R: "Beklager, stemmetjenesten afviser min adgang. Tjek mine indstillinger.",
        _U: "Beklager, jeg kan ikke få forbindelse til stemmetjenesten lige nu.",
        _Q: "Beklager, saldoen til stemmetjenesten er brugt op.",
        _B: "Beklager, stemmetjenesten er optaget. Prøv igen om lidt.",
        _L: "Beklager, forbindelsen blev afbrudt. Spørg igen.",
        _F: "Beklager, det virkede ikke. Prøv igen.",
    },
}


def kind_of(failure: RealtimeError) -> Apology:
    """Return what a failure means to somebody in the room."""
    return next(
        (kind for error, kind in _KINDS.items() if isinstance(failure, error)), Apology.FAILED
    )


def sentence(kind: Apology, language: str | None) -> str:
    """Return a sentence in a language (`de`, `de-CH`), in English where we do not speak it."""
    code = (language or "en").replace("_", "-").partition("-")[0].lower()
    return _SENTENCES.get(code, _SENTENCES["en"])[kind]
