"""What somebody is told: composed, summed up and found, held against the account."""

from collections.abc import Iterator, Mapping

from custom_components.realtime_assist.items import View
from custom_components.realtime_assist.memory.compose import compose
from custom_components.realtime_assist.memory.scopes import GLOBAL, ScopeKey
from custom_components.realtime_assist.memory.searching import Query
from custom_components.realtime_assist.memory.transcript import Thread, ThreadKey

from .visibility_account import Account, Keys, words_in
from .visibility_home import FurnishedHome


def look(
    home: FurnishedHome,
    account: Account,
    base: Mapping[ThreadKey, Thread],
    visible: tuple[ScopeKey, ...],
) -> None:
    """Raise AssertionError where who sees these scopes is told too much, or too little."""
    seen, now = frozenset(map(str, visible)), home.now
    shown = set[str]()
    threads = [each for each in home.house.storage._threads.values() if each.turns or each.summary]
    for thread in threads or [Thread(key=ThreadKey("none", GLOBAL))]:
        for view in _views(thread):
            made = compose(
                thread=thread,
                entries=home.house.context.visible(visible),
                now=None,
                visible=visible,
                view=view,
                resume_tokens=400,
                base=base.get(thread.key),
            )
            for item in made.desired:
                for word in words_in(item.body):
                    account.may(word, seen, now)
                    # So a session that holds it gives it back when somebody else speaks.
                    assert account.told[word].needs <= item.audience, (word, item.key)
                    shown.add(word)
    account.all_there(shown, seen, list(account.told), now)
    _search(home, account, visible, seen)


def _search(
    home: FurnishedHome, account: Account, visible: tuple[ScopeKey, ...], seen: Keys
) -> None:
    words = list(account.told)[-30:]
    if not words:
        return
    query = Query(words=" ".join(words))
    hits = home.run(home.house.recollection.async_find(query, visible, 100))
    found = {word for hit in hits for word in words_in(hit.text)}
    for word in found:
        account.may(word, seen, home.now)
    account.all_there(found, seen, words, home.now)


def _views(thread: Thread) -> Iterator[View]:
    """Yield how a session may see a thread: opened now, at its beginning, or there all the time."""
    yield View(recap_upto=thread.next_number - 1)
    yield View()
    yield View(natives=frozenset(turn.id for turn in thread.turns))
