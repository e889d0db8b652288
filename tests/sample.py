"""Which tests run when. Each name is that of a test or a file, below `tests`.

- `make test`, a few minutes: of each test that uses a browser, or whose variants are slow (`SLOW_VARIANTS`), the first
  variant, but of those with a browser only the most telling (`LATER` has the others), and not the long ones (`LONG`).
- `make test-rest`: those of `LATER`, of the other variants some (`VARIANTS`, `MORE_VARIANTS`), and of each long one the
  first. The build server runs both at each change.
- `make test-all`: all variants, the longest ones (`WEEKLY`), and the large suites that are marked as thorough. The
  build server runs them once a week.
"""

from __future__ import annotations

from pathlib import Path

LONG = frozenset((Path(__file__).parent / "long_tests.txt").read_text("utf-8").split())
"""Tests that take more than two seconds on two busy cores, but for some that say most about the product."""

LATER = frozenset((Path(__file__).parent / "later_tests.txt").read_text("utf-8").split())
"""Tests with a browser, of about a second or two, that say less about the product than those which `make test` runs."""

WEEKLY = frozenset((Path(__file__).parent / "weekly_tests.txt").read_text("utf-8").split())
"""Of the long ones those that take more than about five seconds: whole runs, mostly, of a command line, a server or a
tool that is installed. Nearly all that guard against a wrong click, a leak or a payment run at each change.

`python -m pytest -m weekly` runs these alone.
"""

SLOW_VARIANTS = frozenset(
    {
        "browser/test_downloads.py::test_a_secret_anywhere_in_a_large_file_is_found",
        "browser/test_downloads.py::test_a_secret_in_another_encoding_or_between_tags_is_found",
        "evals/test_security.py::test_an_unknown_name_is_refused_with_the_known_ones",
        "memory/test_memory_command.py::test_what_cannot_be_is_a_usage_error_in_one_line",
        "models/test_factory.py::test_without_the_extra_it_is_said_what_to_install",
        "models/test_fault_server.py::test_a_run_ends_as_documented_whatever_its_model_server_answers",
        "models/test_history.py::test_the_log_begins_as_it_did_the_step_before_but_where_a_block_is_compressed",
        "models/test_providers.py::test_a_reply_becomes_a_decision",
        "models/test_providers.py::test_a_success_that_is_no_reply_is_an_error",
        "models/test_providers.py::test_each_refusal_of_a_request_is_a_sentence_that_helps",
        "models/test_providers.py::test_key_and_address_come_from_the_environment",
        "models/test_providers.py::test_the_number_of_tries_is_told",
        "policy/test_risk_words.py::test_a_risky_control_is_asked_about_whatever_it_is",
        "record/test_hostile_folders.py::test_a_picture_is_read_from_the_folder_only",
        "record/test_hostile_folders.py::test_a_run_whose_id_cannot_name_a_file_is_refused_and_nothing_is_written",
        "record/test_hostile_folders.py::test_deeply_nested_json_and_long_lines_end_in_a_sentence",
        "record/test_hostile_folders.py::test_impossible_values_end_in_a_sentence",
        "record/test_hostile_folders.py::test_what_is_a_pipe_a_link_or_too_large_ends_in_a_sentence",
        "record/test_runs_command.py::test_a_pipe_gets_no_escapes",
        "record/test_runs_command.py::test_what_cannot_be_done_is_one_sentence_and_deletes_nothing",
        "record/test_store.py::test_kill_9_loses_nothing_that_was_acknowledged",
        "replay/test_other_values.py::test_the_button_whose_name_has_the_new_value_is_pressed_and_no_other",
        "replay/test_replay_command.py::test_an_answer_that_was_read_then_is_said_to_be_the_recorded_one_or_left_out",
        "replay/test_variables.py::test_a_replay_that_makes_no_sense_is_a_usage_error_with_a_sentence",
        "supervise/test_access.py::test_a_wrong_option_is_refused_before_anything_starts",
        "supervise/test_server.py::test_no_other_site_can_answer_for_the_person",
        "supervise/test_webhook.py::test_a_receiver_is_told_again_if_it_may_pass_and_is_followed_nowhere",
        "test_cli.py::test_a_file_that_is_not_there_is_not_taken_for_a_host",
        "test_cli.py::test_a_model_that_cannot_be_asked_is_told_before_a_browser_starts_and_leaves_no_folder",
        "test_cli.py::test_a_run_that_makes_no_sense_is_a_usage_error_with_a_sentence",
        "test_cli.py::test_a_wrong_command_line_is_a_usage_error",
        "test_cli.py::test_help_loads_no_browser_no_model_and_no_pixels",
        "test_cli_eval.py::test_what_cannot_be_is_said_in_one_sentence",
        "test_custom_actions.py::test_one_that_fails_is_not_called_again_because_it_may_have_paid",
        "test_run_endings.py::test_a_signal_at_a_moment_at_which_python_drops_it_ends_a_run_all_the_same",
        "test_run_endings.py::test_a_signal_ends_a_run_with_its_report_and_the_command_that_goes_on",
        "ui/test_guard.py::test_no_other_site_can_delete_or_start",
        "vision/test_annotate.py::test_every_number_is_read_back_from_the_picture_as_sent",
        "vision/test_chart_reading.py::test_whatever_series_are_drawn_over_each_other_each_value_has_a_row",
        "vision/test_ocr.py::test_a_letter_in_a_run_of_digits_makes_it_unsure",
        "vision/test_ocr.py::test_a_number_with_several_zeros_is_sure",
        "vision/test_picture.py::test_a_dot_is_found_on_the_page_where_it_was_painted_whatever_the_device_ratio",
        "vision/test_place.py::test_in_dense_layouts_no_label_is_on_another_target_or_label_or_outside",
        "vision/test_place.py::test_in_random_layouts_no_label_is_on_another_target_or_label_or_outside",
        "vision/test_place.py::test_neighbours_of_a_kind_never_share_a_colour",
        "vision/test_place.py::test_what_has_not_moved_keeps_its_place_and_shade_when_something_comes_and_something_goes",
    }
)
"""Tests without a browser, of which only the first variant is quick enough for `make test`."""

STARTS_A_BROWSER = (
    "batch/test_run_rows.py::test_a_recorded_run_is_replayed_for_each_row_and_goes_on_where_it_stopped",
    "batch/test_run_rows.py::test_a_row_that_fails_keeps_none_of_the_others_from_running",
    "batch/test_run_rows.py::test_a_row_that_was_cut_off_is_not_run_again_by_itself",
    "batch/test_run_rows.py::test_a_row_that_was_not_done_has_no_answer_and_the_command_says_how_to_run_it_again",
    "batch/test_run_rows.py::test_each_row_has_the_check_that_its_values_make",
    "batch/test_run_rows.py::test_each_row_is_run_with_its_own_values_and_is_not_run_again",
    "batch/test_run_rows.py::test_rows_beyond_the_total_cost_do_not_begin_and_run_when_there_is_more",
    "batch/test_run_rows.py::test_the_command_writes_answers_and_a_page_and_says_how_many_were_done",
    "batch/test_run_rows.py::test_values_that_read_like_step_lines_are_looked_for_as_they_are",
    "batch/test_run_rows.py::test_what_healing_costs_counts_towards_the_limit_for_all_rows",
    "browser/test_blocked_documents.py::test_in_a_launched_browser_a_blocked_document_leaves_everything_as_it_was",
    "browser/test_downloads.py::test_a_download_without_end_is_cut_at_its_size_and_the_run_goes_on",
    "browser/test_launch.py",
    "browser/test_navigations.py::test_an_error_without_a_page_is_shown_as_the_browsers_own_page",
    "browser/test_numbers.py::test_a_list_that_uses_its_rows_again_hands_no_number_to_another_message_and_takes_none_away",
    "browser/test_pointer_lock.py::test_where_a_page_has_the_pointer_moves_turn_its_view_and_what_a_click_cannot_reach_has_no_mark",
    "browser/test_proxy.py",
    "browser/test_profile.py::test_a_profile_in_use_is_refused_before_anything_starts",
    "browser/test_profile.py::test_runs_of_the_command_line_share_a_profile",
    "browser/test_profile.py::test_what_pages_store_is_there_in_the_next_run",
    "browser/test_request_interception.py::test_a_chrome_that_its_owner_starts_with_the_advised_arguments_reaches_no_other_host",
    "browser/test_saved_session.py::test_a_browser_that_is_gone_before_the_session_was_saved_leaves_none",
    "browser/test_saved_session.py::test_a_person_signs_in_and_the_session_is_saved_when_they_say_so",
    "browser/test_saved_session.py::test_a_run_that_signs_in_leaves_a_session_with_which_the_next_one_begins",
    "browser/test_setup.py",
    "browser/test_start_from_a_file.py::test_links_pictures_and_addresses_stay_in_the_folder",
    "browser/test_two_at_once.py::test_pages_of_one_browser_may_be_begun_at_once",
    "browser/test_used_document.py",
    "browser/test_world.py::test_the_name_and_password_are_given_only_to_the_server_they_belong_to",
    "browser/test_world.py::test_what_a_page_may_use_is_denied_unless_it_was_allowed",
    "evals/test_canvas.py::test_both_solvers_do_what_can_be_done_and_give_up_where_nothing_is",
    "evals/test_eval_runs.py::test_a_model_that_is_asked_has_its_tokens_cost_and_time_counted_and_a_wrong_key_is_an_error",
    "evals/test_eval_runs.py::test_a_score_is_the_pages_word_a_crash_is_an_error_and_only_that_is_tried_again",
    "evals/test_eval_runs.py::test_a_task_of_ones_own_may_expect_a_download",
    "evals/test_eval_runs.py::test_the_same_suite_twice_gives_the_same_scores_and_the_same_pictures",
    "evals/test_eval_runs.py::test_what_was_interrupted_and_killed_goes_on_and_runs_nothing_twice",
    "evals/test_page_list.py::test_listed_pages_become_tasks_for_every_model_and_the_same_bytes_each_time",
    "evals/test_page_list.py::test_without_a_browser_that_is_what_is_said",
    "evals/test_perception.py::test_a_page_that_changes_at_every_examination_is_reported",
    "evals/test_perception.py::test_a_toolbar_that_hides_itself_before_the_examination_is_no_false_mark",
    "evals/test_perception.py::test_labels_may_name_targets_by_selectors",
    "evals/test_perception.py::test_pages_of_other_projects_agree_with_the_independent_truth",
    "evals/test_perception.py::test_the_command_scores_a_folder_and_leaves_with_what_came_of_it",
    "evals/test_perception.py::test_the_labelled_pages_reach_what_is_declared",
    "evals/test_perception.py::test_what_is_missed_and_what_is_marked_wrongly_is_told",
    "evals/test_security.py",
    "integrations/test_cube.py",
    "integrations/test_inspect.py",
    "integrations/test_mcp.py",
    "integrations/test_mcp_app.py",
    "integrations/test_mcp_approval.py",
    "integrations/test_mcp_supervision.py",
    "integrations/test_mcp_trouble.py",
    "integrations/test_pytest_plugin.py",
    "integrations/test_toolsets.py",
    "models/test_own_decider.py::test_an_error_of_a_decider_ends_the_run_with_code_2_and_shows_where_it_is",
    "models/test_own_decider.py::test_replies_that_stay_unusable_are_complained_about_once_and_no_higher_limit_is_advised",
    "policy/test_asked_clicks.py",
    "record/test_permissions.py::test_a_trace_is_its_owners_alone_too",
    "supervise/test_recording_page.py::test_a_recording_after_which_a_check_fails_is_not_done_and_its_lines_are_whole",
    "test_cli_found.py",
    "test_cli.py::test_a_dry_run_says_what_would_be_done_and_leaves_with_0",
    "test_cli.py::test_a_run_by_lines_says_as_json_where_it_can_be_read",
    "test_cli.py::test_a_run_that_cannot_begin_says_so_in_json_too",
    "test_cli.py::test_a_secret_is_typed_only_on_the_origins_that_are_named_for_it",
    "test_cli.py::test_a_secret_that_a_page_tells_is_not_on_the_terminal",
    "test_cli.py::test_ctrl_c_leaves_with_130_and_no_traceback",
    "test_cli.py::test_doctor_prints_what_it_found_as_json",
    "test_cli.py::test_doctor_without_a_browser_leaves_with_5_and_says_what_would_help",
    "test_cli.py::test_a_run_that_could_not_go_on_says_that_its_page_was_an_error_and_has_no_answer",
    "test_cli.py::test_a_part_that_the_page_does_not_have_is_refused",
    "test_cli.py::test_small_marks_that_touch_can_be_looked_at_closer",
    "test_cli.py::test_marks_writes_four_files_prints_the_listing_and_knows_no_model",
    "test_cli.py::test_where_the_disk_is_full_json_says_the_code_that_the_program_exits_with",
    "test_custom_actions.py::test_a_browser_that_went_away_in_it_ends_the_run_as_it_would_anywhere",
    "test_docs.py::test_the_snippets_of_a_page_run",
    "test_examples.py",
    "test_export.py::test_dialogs_language_device_and_files_are_those_of_the_run",
    "test_export.py::test_each_example_shows_a_picture_and_is_answered_as_a_model_would",
    "test_export.py::test_each_target_lies_on_its_picture",
    "test_export.py::test_nothing_is_written_over",
    "test_image_and_workflow.py",
    "test_main_job.py",
    "test_notebook.py::test_a_run_shows_its_progress_in_one_card_and_itself_in_another",
    "test_notebook.py::test_progress_in_a_notebook_can_be_turned_off",
    "test_record_by_doing.py",
    "test_resume.py::test_a_run_of_which_only_the_end_was_missing_ends_and_opens_nothing",
    "test_resume.py::test_a_run_that_is_killed_goes_on_and_does_nothing_twice",
    "test_resume.py::test_what_cannot_go_on_says_why_and_does_nothing",
    "test_resume.py::test_whenever_a_run_is_interrupted_its_folder_is_judged_and_it_goes_on_or_says_why_not",
    "test_resume.py::test_where_a_person_says_so_a_run_goes_on_from_an_address_with_a_query",
    "test_resume.py::test_who_may_reopen_an_address_with_a_query_is_not_asked",
    "test_resume.py::test_whoever_is_ask_outcome_an_act_has_been_told_what_the_page_shows",
    "test_run_endings.py::test_a_signal_ends_a_run_with_its_report_and_the_command_that_goes_on",
    "test_session.py::test_a_page_of_a_persistent_context_is_observed",
    "test_session.py::test_a_page_whose_locators_were_used_before_is_handed_over_without_a_reload",
    "test_session.py::test_a_page_whose_playwright_was_stopped_is_said",
    "test_session.py::test_how_a_browser_is_reached_is_recorded_without_what_opens_it",
    "test_session_browser.py::test_a_browser_of_ours_that_is_lost_is_started_again_and_the_model_is_told",
    "test_session_browser.py::test_a_browser_that_is_not_running_is_said",
    "test_session_browser.py::test_a_run_in_a_browser_that_was_running_leaves_it_running_with_its_own_pages",
    "test_session_browser.py::test_hosts_are_limited_in_a_browser_that_was_running",
    "test_session_browser.py::test_storage_state_device_locale_and_timezone_reach_the_page",
    "test_session_trouble.py::test_a_device_that_does_not_exist_is_said",
    "test_session_trouble.py::test_a_start_that_fails_is_a_run_without_a_step",
    "test_session_trouble.py::test_without_a_key_the_run_says_what_to_set",
    "progress/test_spans.py::test_the_snippet_of_the_guide_joins_a_trace_and_a_record",
    "supervise/test_sign_in_by_hand.py",
    "replay/test_replay_command.py",
    "supervise/test_recording_page.py::test_a_person_has_the_browser_at_once_and_what_they_do_is_recorded_until_they_say_that_they_are_done",
    "test_step_line_export.py::test_a_site_is_used_again_by_the_lines_of_the_run_before",
    "test_sync_api.py",
    "text/test_terminal_output.py::test_a_run_prints_what_a_page_is_called_and_says_with_its_control_characters_escaped",
    "text/test_terminal_output.py::test_a_terminal_gets_our_colours_and_none_of_the_page_s",
    "text/test_terminal_output.py::test_what_a_page_shows_is_escaped_by_each_command_that_prints_it",
    "test_trace.py::test_of_a_run_that_breaks_there_is_a_trace_too",
    "test_wheel.py::test_the_demonstration_of_the_wheel_reaches_both_tasks_without_a_key",
    "test_wheel.py::test_the_doctor_of_the_wheel_asks_for_nothing_that_only_developers_of_the_project_need",
    "test_wheel.py::test_the_fixtures_are_evaluated_from_the_wheel_too",
    "test_zero_leak.py::test_no_form_of_a_secret_is_in_anything_that_a_run_leaves_or_sends_and_pictures_do_not_tell_it",
    "ui/test_runs.py::test_ctrl_c_ends_the_page_and_interrupts_the_runs_that_it_started",
)
"""Tests that start a browser, or Playwright, without the fixture `browser`: whole files, or single tests.

`make check` leaves them out. It replaces Playwright's driver by `no_browser.sh`, so a test missing here fails there.
"""

VARIANTS = 2
"""How many more variants of a test that uses a browser, or whose variants are slow, `make test-rest` runs: those
spread evenly over all; none of a long one. What the variants have in common is tried all the same."""

MORE_VARIANTS = {
    "browser/test_context.py::test_nothing_else_may_differ_where_something_is_bought": 10,
    "browser/test_drawn_under_pointer.py::test_of_two_drawn_buttons_that_change_places_the_other_one_is_not_pressed": 3,
    "browser/test_mutations.py::test_what_was_meant_is_hit_or_refused_for_the_right_reason": 20,
    "browser/test_outcomes_agree.py::test_the_outcome_agrees_with_what_the_page_says_reached_it": 18,
    "browser/test_row_mutations.py::test_only_the_row_that_was_meant_is_reached_or_the_act_is_refused": 42,
    "browser/test_row_mutations.py::test_what_goes_on_beside_a_row_keeps_nobody_from_it": 11,
    "browser/test_secrets.py::test_a_page_that_changes_what_is_typed_into_after_the_first_key_gets_no_secret": 7,
    "browser/test_switched_targets.py::test_a_label_that_has_become_that_of_another_box_ticks_none": 5,
    "browser/test_switched_targets.py::test_the_rest_of_a_text_does_not_go_to_a_field_that_takes_the_focus": 5,
    "evals/test_security.py::test_an_attack_is_stopped_and_the_useful_task_is_done": 12,
    "overlay/test_scan.py::test_a_click_on_a_mark_reaches_its_element": 6,
    "overlay/test_scan.py::test_exactly_what_can_be_acted_on_is_marked_and_called_what_it_is": 24,
    "policy/test_task_limits.py::test_an_amount_in_a_button_and_a_stated_total_are_held_against_what_may_be_spent": 10,
    "policy/test_task_limits.py::test_what_an_act_pays_is_read_beside_it_and_held_against_what_may_be_spent": 13,
    "replay/test_other_values.py::test_of_two_rows_that_differ_in_an_amount_only_none_is_taken": 5,
    "supervise/test_risky_pages.py::test_a_button_that_only_agrees_is_judged_by_heading_and_words_beside_it": 15,
    "supervise/test_risky_pages.py::test_signs_icons_descriptions_and_addresses_tell_a_risk": 7,
    "supervise/test_risky_pages.py::test_what_a_control_does_is_judged_by_what_is_painted_labelled_and_sent": 17,
}
"""The same for tests whose variants are each a way to press, pay, delete or disclose the wrong thing, and for those
that try all fixture pages."""
