"""For each key of the table, the test that shows its effect.

`test_every_key_has_a_reader` checks that every key is here and that every test exists, and
`python -m scripts.docs.settings_tests_page` makes `docs/reference/settings-tests.md` from it.
"""

from __future__ import annotations

from collections.abc import Mapping

_SCOPE = ("default", "rules[].action", "rules[].match.chatType", "rules[].match.channel",
          "rules[].match.keyPrefix", "rules[].match.rawKeyPrefix")  # fmt: skip
_LANCE = "plugins.entries.memory-lancedb"
_HOOK = "hooks.internal.entries.session-memory"

_SEARCH: Mapping[str, tuple[str, ...]] = {
    "surfaces/test_fresh.py::test_a_memory_that_is_switched_off_says_who_did_it": ("enabled",),
    "surfaces/test_search_settings.py::test_sessions_alone_are_searched_if_they_alone_are_named": (
        "sources",
        "experimental.sessionMemory",
    ),
    "surfaces/test_cli.py::test_status_names_what_is_left_out_and_what_comes_next": (
        "extraPaths",
        "chunking.tokens",
    ),
    "core/test_chunking.py::test_overlap_repeats_the_last_lines_of_the_chunk_before": (
        "chunking.overlap",
    ),
    "surfaces/test_sessions.py::test_other_hosts_transcripts_are_read_where_the_settings_say": (
        "sessions.paths",
    ),
    "surfaces/test_sessions.py::test_notes_are_masked_too_if_asked": ("redaction.notes",),
    "embedders/test_masked.py::test_the_setting_sends_notes_as_they_are_and_embeds_them_again": (
        "redaction.remote",
    ),
    "config/test_workspace_file.py::test_the_users_own_file_does_send_them": ("provider",),
    "embedders/test_environment_keys.py::test_a_user_who_says_so_lets_the_command_line_use_it": (
        "useEnvironmentKeys",
    ),
    "embedders/test_choose.py::test_an_embedded_model_is_chosen_by_its_name": ("model",),
    "embedders/test_where_keys_go.py::test_a_fallback_uses_its_own_entry": ("fallback",),
    "embedders/test_embedder_keys.py::test_input_types_are_sent": (
        "inputType",
        "queryInputType",
        "documentInputType",
    ),
    "embedders/test_remote_wire.py::test_a_request_is_what_the_provider_documents": (
        "outputDimensionality",
    ),
    "embedders/test_where_keys_go.py::test_remote_settings_win_over_the_entry_of_their_provider": (
        "remote.baseUrl",
        "remote.apiKey",
        "remote.headers",
    ),
    "embedders/test_batching.py::test_requests_go_out_together_but_never_more_than_allowed": (
        "remote.nonBatchConcurrency",
    ),
    "embedders/test_batch.py::test_it_is_off_unless_asked_for": ("remote.batch.enabled",),
    "embedders/test_batch_cli.py::"
    "test_without_waiting_a_later_run_fetches_what_an_earlier_one_began": ("remote.batch.wait",),
    "embedders/test_batch.py::test_texts_are_cut_into_jobs_of_which_so_many_are_under_way": (
        "remote.batch.concurrency",
    ),
    "embedders/test_batch_parts.py::test_looks_at_a_job_come_less_and_less_often": (
        "remote.batch.pollIntervalMs",
    ),
    "embedders/test_batch.py::"
    "test_a_job_that_takes_too_long_is_waited_for_once_more_and_then_cancelled": (
        "remote.batch.timeoutMinutes",
    ),
    "embedders/test_choose.py::test_auto_takes_a_local_model_whose_file_is_there": (
        "local.modelPath",
    ),
    "embedders/test_embedder_keys.py::test_model_means_the_folder_of_the_settings": (
        "local.modelCacheDir",
    ),
    "embedders/test_embedder_keys.py::test_the_context_size_bounds_the_chunks": (
        "local.contextSize",
    ),
    "surfaces/test_postgres.py::test_a_folder_of_notes_is_indexed_into_the_shared_store": (
        "store.driver",
        "store.url",
    ),
    "surfaces/test_postgres.py::test_tenants_do_not_see_each_other": ("store.tenant",),
    "surfaces/test_search_settings.py::test_two_workspaces_with_one_store_path_have_two_indexes": (
        "store.path",
    ),
    "surfaces/test_search_settings.py::"
    "test_without_sqlite_vec_vectors_are_searched_all_the_same_and_a_notice_says_so": (
        "store.vector.enabled",
    ),
    "surfaces/test_search_settings.py::test_the_named_library_of_sqlite_vec_is_used": (
        "store.vector.extensionPath",
    ),
    "doctor/test_verify.py::test_the_other_vector_driver_is_proved_too": ("store.vector.driver",),
    "surfaces/test_fresh.py::test_the_index_and_the_cache_are_kept_as_the_settings_say": (
        "cache.enabled",
        "cache.maxEntries",
    ),
    "surfaces/test_hook.py::test_a_user_can_keep_the_start_of_a_session_from_indexing": (
        "sync.onSessionStart",
    ),
    "surfaces/test_fresh.py::test_catching_up_can_be_switched_off": ("sync.onSearch",),
    "http_service/test_sync.py::test_the_service_watches_notes_unless_the_settings_say_no": (
        "sync.watch",
    ),
    "sync/test_watch.py::test_it_syncs_at_once_and_then_when_the_writing_has_stopped": (
        "sync.watchDebounceMs",
    ),
    "sync/test_watch.py::test_an_interval_is_kept_whatever_was_heard": ("sync.intervalMinutes",),
    "sessions/test_transcripts.py::test_a_sync_leaves_alone_what_grew_too_little": (
        "sync.sessions.deltaBytes",
    ),
    "surfaces/test_sessions.py::test_enough_new_turns_are_taken_in_by_the_next_search": (
        "sync.sessions.deltaMessages",
    ),
    "surfaces/test_hook_keep.py::test_the_settings_decide_else_the_entry_of_the_hook": (
        "sessions.keep.enabled",
    ),
    "surfaces/test_hook_keep.py::test_kept_conversations_are_removed_as_the_settings_say": (
        "sessions.keep.days",
        "sessions.keep.megabytes",
    ),
    "surfaces/test_hook_keep.py::test_conversations_in_folders_that_are_left_out_are_not_kept": (
        "sessions.keep.leaveOut",
    ),
    "surfaces/test_hook_keep.py::test_kept_conversations_can_be_left_out_of_the_search": (
        "sessions.keep.search",
    ),
    "embedders/test_embedder_keys.py::test_how_long_a_request_with_notes_may_take_is_a_setting": (
        "sync.embeddingBatchTimeoutSeconds",
    ),
    "config/test_settings.py::test_the_preset_of_the_seeds_is_their_formula_unless_more_is_said": (
        "query.preset",
    ),
    "search/test_search.py::test_no_more_hits_than_asked_for": ("query.maxResults",),
    "evals/test_run.py::test_the_settings_of_a_workspace_hold_in_an_evaluation": (
        "query.minScore",
    ),
    "embedders/test_remote_memory.py::test_a_question_that_is_asked_again_costs_no_request": (
        "query.cacheEntries",
    ),
    "embedders/test_embedder_keys.py::test_how_long_a_question_waits_is_a_setting": (
        "query.embeddingTimeoutSeconds",
    ),
    "surfaces/test_search_settings.py::"
    "test_without_hybrid_vectors_alone_decide_and_the_threshold_holds": ("query.hybrid.enabled",),
    "search/test_second_look.py::test_every_fusion_finds_what_has_all_the_words": (
        "query.hybrid.fusion",
    ),
    "config/test_layers.py::test_one_weight_is_enough_and_two_are_brought_to_a_sum_of_one": (
        "query.hybrid.textWeight",
    ),
    "http_service/test_page_search.py::test_one_question_is_weighed_in_two_ways": (
        "query.hybrid.vectorWeight",
    ),
    "search/test_second_look.py::"
    "test_more_candidates_fill_the_answer_where_neighbours_become_one_hit": (
        "query.hybrid.candidateMultiplier",
    ),
    "search/test_second_look.py::test_with_mmr_a_double_comes_after_something_new": (
        "query.hybrid.mmr.enabled",
        "query.hybrid.mmr.lambda",
    ),
    "http_service/test_page_search.py::test_age_is_told_and_can_be_switched_off": (
        "query.hybrid.temporalDecay.enabled",
    ),
    "core/test_times.py::test_decay_halves_a_score_at_the_half_life_and_stops_at_the_floor": (
        "query.hybrid.temporalDecay.halfLifeDays",
    ),
}

_QMD: Mapping[str, tuple[str, ...]] = {
    "qmd/test_failures.py::test_a_program_that_is_not_there": ("command",),
    "qmd/test_failures.py::test_no_vectors_is_told_without_starting_anything": ("searchMode",),
    "qmd/test_answers.py::test_a_query_that_shall_not_rerank_says_so": ("rerank",),
    "qmd/test_decisions.py::test_extra_folders_get_safe_names_and_none_twice": (
        "includeDefaultMemory",
    ),
    "qmd/test_engine.py::test_hits_outside_the_workspace_are_read_back_by_their_name": ("paths",),
    "qmd/test_engine.py::test_sessions_are_exported_redacted_and_found": (
        "sessions.enabled",
        "sessions.retentionDays",
    ),
    "qmd/test_engine.py::test_sessions_are_exported_to_the_folder_of_the_settings": (
        "sessions.exportDir",
    ),
    "qmd/test_decisions.py::test_an_interval_of_nothing_leaves_only_changes": ("update.interval",),
    "qmd/test_decisions.py::test_the_debounce_is_the_least_time_between_two_updates": (
        "update.debounceMs",
    ),
    "qmd/test_decisions.py::test_the_first_update_is_at_the_start_unless_it_is_switched_off": (
        "update.onBoot",
    ),
    "qmd/test_engine.py::test_waiting_for_the_first_update_is_a_setting": (
        "update.waitForBootSync",
    ),
    "qmd/test_decisions.py::test_vectors_are_computed_only_where_meaning_is_asked_for": (
        "update.embedInterval",
    ),
    "qmd/test_failures.py::test_each_kind_of_command_has_the_timeout_of_its_setting": (
        "update.commandTimeoutMs",
        "update.updateTimeoutMs",
        "update.embedTimeoutMs",
    ),
    "qmd/test_failures.py::test_a_program_that_hangs_is_ended_with_all_it_started": (
        "limits.timeoutMs",
    ),
    "qmd/test_engine.py::test_the_limits_cut_what_an_agent_is_shown": (
        "limits.maxResults",
        "limits.maxSnippetChars",
        "limits.maxInjectedChars",
    ),
}

_OTHERS: Mapping[str, tuple[str, ...]] = {
    "surfaces/test_routing.py::"
    "test_a_named_agent_needs_no_workspace_if_the_settings_give_it_one": (
        "workspace",
        "agents.list[].id",
    ),
    "surfaces/test_flush.py::"
    "test_a_host_is_told_once_per_cycle_with_the_prompts_of_the_settings": (
        "compaction.reserveTokensFloor",
        "compaction.memoryFlush.softThresholdTokens",
        "compaction.memoryFlush.prompt",
        "compaction.memoryFlush.systemPrompt",
    ),
    "surfaces/test_flush.py::test_switched_off_in_the_settings_it_says_so": (
        "compaction.memoryFlush.enabled",
    ),
    "surfaces/test_hook.py::test_what_a_session_begins_with_is_cut_as_the_settings_say": (
        "bootstrapMaxChars",
    ),
    "surfaces/test_flush.py::test_the_note_is_that_of_the_users_day": ("userTimezone",),
    "config/test_layers.py::test_the_default_agent_is_the_marked_one_else_the_first": (
        "agents.list[].default",
    ),
    "surfaces/test_routing.py::test_bindings_decide_whose_notes_are_searched": (
        "bindings[].agentId",
        "bindings[].match.channel",
        "bindings[].match.accountId",
        "bindings[].match.peer.kind",
        "bindings[].match.peer.id",
        "bindings[].match.guildId",
        "bindings[].match.teamId",
    ),
    "qmd/test_engine.py::test_what_is_synced_is_found_cited_and_read": ("memory.backend",),
    "qmd/test_engine.py::test_without_a_fallback_the_failure_is_the_answer": ("memory.fallback",),
    "surfaces/test_tools.py::test_citations_follow_the_conversation": ("memory.citations",),
    "http_service/test_conversations.py::test_memory_md_can_be_shared": ("memory.curated",),
    "core/test_scope.py::test_the_first_rule_that_fits_decides": (
        *(f"memory.scope.{key}" for key in _SCOPE),
        *(f"memory.qmd.scope.{key}" for key in _SCOPE),
    ),
    "config/test_layers.py::test_a_memory_can_be_off_and_says_why": ("plugins.slots.memory",),
    "surfaces/test_hook.py::test_the_settings_can_switch_it_off": (
        "hooks.internal.enabled",
        f"{_HOOK}.enabled",
    ),
    "surfaces/test_hook.py::test_the_settings_can_decline_recall": ("hooks.recall",),
    "surfaces/test_hook_time.py::test_a_recall_that_takes_too_long_says_so": (
        "hooks.recallSeconds",
    ),
    "surfaces/test_hook_time.py::test_a_late_embedder_costs_the_entry_and_not_the_note": (
        "hooks.workSeconds",
    ),
    "surfaces/test_hook.py::test_the_settings_say_how_many_messages": (f"{_HOOK}.messages",),
    "surfaces/test_hook.py::test_a_program_of_the_user_names_the_note": (f"{_HOOK}.slugCommand",),
    "http_service/test_page_sessions.py::"
    "test_switched_off_nothing_is_kept_and_what_was_kept_goes": ("recallLog.enabled",),
    "entries/test_surfaces.py::test_the_settings_come_from_the_users_own_file": (
        f"{_LANCE}.enabled",
        f"{_LANCE}.config.dbPath",
    ),
    "surfaces/test_hook.py::test_statements_of_the_user_become_entries_at_the_end_of_a_turn": (
        f"{_LANCE}.config.autoCapture",
    ),
    "surfaces/test_hook.py::test_a_prompt_gets_the_entries_that_are_about_it": (
        f"{_LANCE}.config.autoRecall",
    ),
    "entries/test_turns.py::test_a_statement_longer_than_the_setting_is_not_captured": (
        f"{_LANCE}.config.captureMaxChars",
    ),
    "entries/test_turns.py::test_a_prompt_is_asked_for_up_to_its_limit_and_never_breaks_a_turn": (
        f"{_LANCE}.config.recallMaxChars",
    ),
    "embedders/test_where_keys_go.py::"
    "test_a_provider_of_the_users_own_has_its_address_key_and_wire_format": (
        "models.providers.*.baseUrl",
        "models.providers.*.apiKey",
        "models.providers.*.headers",
        "models.providers.*.api",
        "models.providers.*.models",
    ),
    "embedders/test_where_keys_go.py::test_the_settings_order_the_auth_profiles": (
        "auth.order.*",
    ),
}


def proofs() -> dict[str, str]:
    """The test of each key, by the path of the key below its agent or its file."""
    groups = (("memorySearch.", _SEARCH), ("memory.qmd.", _QMD), ("", _OTHERS))
    return {
        f"{above}{key}": f"tests/{test}"
        for above, group in groups
        for test, keys in group.items()
        for key in keys
    }
