"""The 43 defects that were found in Trixy's ConversationContext, and which tests would see each.

Tests are named as they are called; no two have one name. What has none says why.
"""

from typing import Final

DEFECTS: Final[dict[int, tuple[str, tuple[str, ...]]]] = {
    1: (
        "a second write ignores a new retention and priority",
        (
            "test_options_can_be_changed_and_cleared",
            "test_row_tags_source_metadata",
        ),
    ),
    2: (
        "tags and metadata only grow, an end cannot be cleared",
        (
            "test_options_can_be_changed_and_cleared",
            "test_row_tags_source_metadata",
        ),
    ),
    3: (
        "a write to a key that is over is lost",
        ("test_an_expired_key_is_a_fresh_entry", "test_row_retention"),
    ),
    4: (
        "turns are not counted anew after a write",
        ("test_turns_count_in_their_own_scope",),
    ),
    5: (
        "no time at all is ignored; a time is always an hour",
        (
            "test_time_ends_what_has_a_time",
            "test_turns_count_in_their_own_scope",
        ),
    ),
    6: (
        "for some turns, without how many, is for ever",
        ("test_contradictions_are_refused", "test_row_retention"),
    ),
    7: (
        "`immediate` is never kept to",
        ("test_immediate_ends_with_its_turn", "test_row_retention"),
    ),
    8: (
        "what is temporary has no lifetime",
        (
            "test_time_ends_what_has_a_time",
            "test_what_is_temporary_has_a_lifetime",
        ),
    ),
    9: (
        "the end of a session takes what was to stay",
        (
            "test_contradictions_are_refused",
            "test_a_session_takes_its_own_with_it",
        ),
    ),
    10: (
        "people and the home lose all at the end of a session, and many at once cannot choose",
        (
            "test_row_retention",
            "test_a_conversation_is_over_when_nobody_goes_on",
        ),
    ),
    11: (
        "a value of nothing counts as missing",
        ("test_the_narrowest_scope_answers", "test_row_scope_lookup_order"),
    ),
    12: (
        "priority is not used, what is over is not evicted first",
        (
            "test_a_full_scope_loses_the_least_important_first",
            "test_row_priority_and_capacity",
        ),
    ),
    13: (
        "a turn ages every scope",
        ("test_turns_count_in_their_own_scope", "test_row_retention"),
    ),
    14: (
        "what is used goes by when it was made",
        (
            "test_use_renews_what_slides",
            "test_a_full_scope_loses_the_least_important_first",
        ),
    ),
    15: (
        "the same again is a version; earlier values can be changed, and not read or gone back to",
        (
            "test_versions_tell_the_past_and_can_be_rolled_back",
            "test_an_entry_goes_back_to_any_version_that_is_kept",
            "test_row_versions",
        ),
    ),
    16: ("what is read is the thing itself", ("test_values_are_copies",)),
    17: (
        "the writer's own containers are kept",
        ("test_values_are_copies", "test_row_tags_source_metadata"),
    ),
    18: (
        "who and where are in no key, and cannot change",
        (
            "test_row_speaker_known",
            "test_row_several_rooms",
            "test_a_satellite_that_moves_keeps_its_memory_and_sees_the_new_room",
        ),
    ),
    19: (
        "another speaker reads what the first one said",
        (
            "test_what_is_a_persons_own_goes_and_comes_with_the_person",
            "test_no_session_holds_what_belongs_to_another",
            "test_nobody_is_ever_shown_what_is_not_for_them",
        ),
    ),
    20: (
        "what is everybody's is not shared between conversations",
        (
            "test_what_one_agent_remembers_another_knows_at_once",
            "test_a_fact_is_remembered_by_voice_and_known_in_the_next_session",
        ),
    ),
    21: (
        "one flat namespace for all plugins; nothing is anybody's own",
        ("test_row_scopes", "test_nobody_else_may"),
    ),
    22: (
        "an id from outside is a path",
        (
            "test_any_name_stays_in_the_folder_and_private",
            "test_a_kill_loses_nothing",
        ),
    ),
    23: (
        "some scopes are never saved",
        ("test_row_scopes", "test_any_history_of_changes_survives_any_restart"),
    ),
    24: (
        "what was cleared, ended, evicted or over is back after a restart",
        (
            "test_row_durable_forget",
            "test_forgotten_is_gone_from_the_disk_and_stays_gone",
            "test_the_store_does_what_it_should_whatever_happens",
        ),
    ),
    25: (
        "a write is not whole, one impossible value destroys a file",
        (
            "test_row_persistence",
            "test_what_the_disk_cannot_keep_is_refused_at_the_door",
            "test_a_kill_loses_nothing",
        ),
    ),
    26: ("later saves fail in silence", ("test_a_full_disk_is_noticed",)),
    27: (
        "one broken file takes the others along",
        ("test_a_broken_file_loses_nothing_else", "test_row_persistence"),
    ),
    28: (
        "everything is read and written at each change, and the loop waits",
        (
            "test_steady_changes_reach_the_disk_within_a_second",
            "test_a_write_rewrites_its_scope_alone",
        ),
    ),
    29: (
        "turns, use and its order are lost at a restart",
        (
            "test_reading_is_written_down_now_and_then",
            "test_turns_count_in_their_own_scope",
        ),
    ),
    30: (
        "earlier values grow without bound, and outlive forgetting",
        (
            "test_old_versions_are_bounded",
            "test_earlier_values_are_words_too",
            "test_what_is_too_long_ago_or_forgotten_does_not_come_back",
        ),
    ),
    31: (
        "files have no version",
        (
            "test_a_newer_file_is_not_overwritten",
            "test_a_newer_minor_version_is_read",
        ),
    ),
    32: (
        "what is written under one name is read under another",
        ("test_restart_keeps_facts_and_history",),
    ),
    33: (
        "a save makes no folder and is not alone",
        ("test_row_concurrency", "test_stop_writes_what_is_behind"),
    ),
    34: (
        "one bad entry skips the rest; whose file it is goes unchecked",
        (
            "test_a_broken_entry_loses_only_itself",
            "test_a_broken_file_loses_nothing_else",
        ),
    ),
    35: (
        "nothing is cleaned up while nobody speaks",
        (
            "test_a_conversation_is_over_when_nobody_goes_on",
            "test_time_ends_what_has_a_time",
        ),
    ),
    36: (
        "counts hold what is over, and are no JSON",
        (
            "test_row_observability",
            "test_what_is_over_is_not_counted_as_forgotten",
        ),
    ),
    37: (
        "ids are printed, errors of the disk are swallowed",
        ("test_no_word_is_logged", "test_a_full_disk_is_noticed"),
    ),
    38: ("imports that nothing uses", ()),
    39: (
        "a search looks at everything",
        (
            "test_common_words_cost_little",
            "test_by_key_tag_and_source",
        ),
    ),
    40: (
        "nobody learns of a change",
        ("test_changes_are_told_once", "test_row_observability"),
    ),
    41: (
        "only entries are counted; no prompt, no relevance, no summary",
        (
            "test_a_scope_is_bounded_in_bytes",
            "test_too_many_facts_are_searched_instead",
            "test_words_find_what_has_them_best_first",
            "test_a_long_history_is_folded_and_its_tail_stays",
        ),
    ),
    42: (
        "a session that ended takes more",
        (
            "test_a_session_takes_its_own_with_it",
            "test_where_nobody_speaks_there_is_no_conversation",
        ),
    ),
    43: (
        "no consent, and nothing of one person can be deleted",
        (
            "test_nothing_reaches_the_disk",
            "test_a_person_who_left",
            "test_any_name_stays_in_the_folder_and_private",
        ),
    ),
}

NOTHING_LIKE_IT: Final = {
    38: "scripts/lint refuses an import that nothing uses",
}
"""Also of 43: files are for Home Assistant's user alone, and not encrypted, as all of its are."""
