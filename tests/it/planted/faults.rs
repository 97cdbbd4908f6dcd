//! The defences against what others send and what programs do, each with a fault that disables it.
//!
//! INVARIANT: each fault is one change of the source, so the product has no switch that weakens it.
//! It does not run anything; `../planted.rs` does. Read next: `../planted.rs`.

/// A change of the source that disables a defence, and the test that must then fail.
pub(crate) struct Fault {
    /// The name of the defence.
    pub(crate) defence: &'static str,
    /// The file that the change is in.
    pub(crate) file: &'static str,
    /// A text that the file has once.
    pub(crate) from: &'static str,
    /// The text in its place.
    pub(crate) to: &'static str,
    /// The package, and the arguments that choose one of its test binaries.
    pub(crate) suite: &'static [&'static str],
    /// The test.
    pub(crate) test: &'static str,
    /// The file that the test is in.
    pub(crate) at: &'static str,
}

/// All of them, in the order of the manual's table.
pub(crate) const FAULTS: &[Fault] = &[
    Fault {
        defence: "a snapshot is compared with a replay",
        file: "runtime/src/run/proof.rs",
        from: "if ours.is_err() || ours != theirs {",
        to: "if ours.is_err() {",
        suite: &["duet-runtime", "--lib"],
        test: "a_snapshot_with_a_memory_that_no_turn_made_is_refused",
        at: "runtime/src/run/proof/tests.rs",
    },
    Fault {
        defence: "an imported run holds only what its importer grants",
        file: "src/session/surroundings.rs",
        from: "options.terms = Some(terms);",
        to: "drop(terms);",
        suite: &["duet", "--test", "it"],
        test: "an_imported_run_calls_only_what_was_granted_here",
        at: "tests/it/trust.rs",
    },
    Fault {
        defence: "the importer decides the limits",
        file: "src/session/proof.rs",
        from: "programs.cap_memory(bytes);",
        to: "",
        suite: &["duet", "--test", "it"],
        test: "the_importer_sets_the_limits",
        at: "tests/it/trust.rs",
    },
    Fault {
        defence: "lost turns are noticed",
        file: "src/journal.rs",
        from: "    if lost.is_empty() {",
        to: "    if lost.len() < usize::MAX {",
        suite: &["duet", "--test", "it"],
        test: "lost_turns_are_told_by_every_command_until_somebody_accepts_the_loss",
        at: "tests/it/trust.rs",
    },
    Fault {
        defence: "a database has the schema of a journal",
        file: "journal/src/store/sqlite/guard.rs",
        from: "Ok(items(connection)? == items(&empty)?)",
        to: "Ok(items(connection)?.len() + items(&empty)?.len() > 0)",
        suite: &["duet-journal", "--test", "it"],
        test: "a_database_with_another_schema_is_refused",
        at: "journal/tests/it/hostile.rs",
    },
    Fault {
        defence: "files beside a journal are no links",
        file: "journal/src/beside.rs",
        from: "        Ok(found) => require_plain(path, &found).is_ok(),",
        to: "        Ok(found) => found.len() < u64::MAX,",
        suite: &["duet-journal", "--test", "it"],
        test: "an_index_is_neither_read_nor_written_through_links_nor_waited_for_at_a_pipe",
        at: "journal/tests/it/hostile.rs",
    },
    Fault {
        defence: "no tool reaches the journal",
        file: "drivers/src/tool/workspace/tree.rs",
        from: "    match kept.contains(&identity(metadata)) {",
        to: "    match kept.contains(&identity(metadata)) && kept.is_empty() {",
        suite: &["duet-drivers", "--lib"],
        test: "no_tool_reaches_a_file_of_a_journal_by_any_path",
        at: "drivers/src/tool/workspace/tests/journal.rs",
    },
    Fault {
        defence: "everything counts against a run's memory",
        file: "runtime/src/scheme/execution.rs",
        from: "        is_beyond.then(||",
        to: "        (is_beyond && bytes_max == 0).then(||",
        suite: &["duet", "--test", "it"],
        test: "everything_that_a_run_keeps_counts_against_its_memory",
        at: "tests/it/memory.rs",
    },
    Fault {
        defence: "refused memory ends the process in plain words",
        file: "allocator/src/lib.rs",
        from: "    if pointer.is_null() {",
        to: "    if pointer.is_null() && bytes == 0 {",
        suite: &["duet", "--test", "it"],
        test: "a_system_that_refuses_memory_ends_the_process_in_plain_words",
        at: "tests/it/memory.rs",
    },
    Fault {
        defence: "a procedure of lists refuses to have none",
        file: "stdlib/duet/internal/sequences.scm",
        from: "    ((procedure list . lists)
     (let loop ((lists (cons list lists)))
       (let ((cars (%cars lists)))
         (if cars
             (let ((first (apply procedure cars)))",
        to: "    ((procedure . lists)
     (let loop ((lists lists))
       (let ((cars (%cars lists)))
         (if cars
             (let ((first (apply procedure cars)))",
        suite: &["duet", "--test", "it"],
        test: "every_procedure_ends_whatever_its_arguments_are",
        at: "tests/it/sweep.rs",
    },
    Fault {
        defence: "a listed name leads to no private address",
        file: "drivers/src/tool/http/address.rs",
        from: "        !is_inside(ip) || (is_local",
        to: "        !is_inside(ip) || is_inside(ip) || (is_local",
        suite: &["duet-drivers", "--lib"],
        test: "a_name_leads_inside_only_if_the_address_is_listed_as_such",
        at: "drivers/src/tool/http/address.rs",
    },
    Fault {
        defence: "an approval shows the deciding arguments first",
        file: "runtime/src/gate/question.rs",
        from: "DECIDING.iter().position(|deciding| *deciding == name)",
        to: "DECIDING.iter().position(|deciding| deciding.is_empty() && *deciding == name)",
        suite: &["duet-runtime", "--lib"],
        test: "what_decides_is_first_and_whole_and_the_rest_is_shortened",
        at: "runtime/src/gate/question.rs",
    },
    Fault {
        defence: "control characters become escapes",
        file: "drivers/src/text.rs",
        from: "    escaped(text, is_hidden)",
        to: "    escaped(text, |letter| letter == '\\0' && is_hidden(letter))",
        suite: &["duet-drivers", "--lib"],
        test: "every_control_character_and_bidirectional_mark_becomes_a_visible_escape",
        at: "drivers/src/text.rs",
    },
    Fault {
        defence: "an answer approves nothing",
        file: "drivers/src/prepared.rs",
        from: "        if !approves.is_empty() {",
        to: "        if approves.len() > 99 {",
        suite: &["duet-drivers", "--lib"],
        test: "an_answer_fills_questions_only_and_an_approval_approves_only_what_it_names",
        at: "drivers/src/prepared.rs",
    },
    Fault {
        defence: "a secret is found however a stream is cut",
        file: "drivers/src/tool/secret/stream.rs",
        from: "                Found::Beginning if !is_end => break,",
        to: "                Found::Beginning if !is_end && bytes.len() > 99 => break,",
        suite: &["duet-drivers", "--lib"],
        test: "a_secret_is_found_however_the_stream_is_cut",
        at: "drivers/src/tool/secret/stream.rs",
    },
    Fault {
        defence: "lines that were not shown are counted",
        file: "src/session/reporting.rs",
        from: "            mark.set(Tip { hash, sequence });",
        to: "            let _ = (mark, Tip { hash, sequence });",
        suite: &["duet", "--test", "it"],
        test: "lines_that_a_killed_process_did_not_show_are_shown_on_request",
        at: "tests/it/output.rs",
    },
    Fault {
        defence: "the program stands still while an expression is evaluated",
        file: "src/command/eval.rs",
        from: "        run.hold_still(&since);\n        let newest",
        to: "        let newest",
        suite: &["duet", "--test", "it"],
        test: "the_program_stands_still_while_an_expression_is_evaluated",
        at: "tests/it/travel/asking.rs",
    },
    Fault {
        defence: "a kept compiled library has the account's seal",
        file: "src/session/shelf.rs",
        from: "        (bytes == seal(own, key, &content).as_bytes())",
        to: "        (bytes.len() == seal(own, key, &content).as_bytes().len())",
        suite: &["duet", "--bin", "duet"],
        test: "a_compiled_library_that_another_account_has_put_there_is_not_used",
        at: "src/session/shelf.rs",
    },
    Fault {
        defence: "a commit is on the disk before it is acknowledged",
        file: "journal/src/store/sqlite/file.rs",
        from: "\"PRAGMA synchronous = FULL\"",
        to: "\"PRAGMA synchronous = NORMAL\"",
        suite: &["duet-journal", "--test", "it"],
        test: "a_power_cut_anywhere_loses_nothing_that_was_acknowledged",
        at: "journal/tests/it/power.rs",
    },
    Fault {
        defence: "machine code leaves where a number is no fixnum",
        file: "kernel/src/machine/native/template/number.rs",
        from: "test_fixnums(left, right)",
        to: "test_fixnums(left, left)",
        suite: &["duet-kernel", "--test", "it"],
        test: "each_instruction_does_the_same_as_machine_code",
        at: "kernel/tests/it/native.rs",
    },
    Fault {
        defence: "a run that goes back is what its journal says",
        file: "runtime/src/state/savepoint.rs",
        from: "        (self.counters, self.queue) = (savepoint.counters.clone(), savepoint.queue.clone());",
        to: "        self.counters = savepoint.counters.clone();",
        suite: &["duet", "--test", "simulation"],
        test: "runs_to_which_everything_happens_are_what_their_journals_say",
        at: "tests/simulation.rs",
    },
    Fault {
        defence: "a watch needs the right to observe",
        file: "runtime/src/action/observe.rs",
        from: "needing(Need::Observe(&self.pattern))",
        to: "Needs::new()",
        suite: &["duet", "--test", "it"],
        test: "programs_with_all_names_do_only_what_they_were_granted",
        at: "tests/it/isolation.rs",
    },
    Fault {
        defence: "a value passes the caveats of its capability",
        file: "runtime/src/turn/activation/operation.rs",
        from: "        for caveat in caveats {",
        to: "        for caveat in caveats.into_iter().skip(1) {",
        suite: &["duet", "--test", "it"],
        test: "programs_with_all_names_do_only_what_they_were_granted",
        at: "tests/it/isolation.rs",
    },
    Fault {
        defence: "a sandbox has the names that it was given",
        file: "kernel/src/expander/unit.rs",
        from: "        if self.module.is_sealed {",
        to: "        if false {",
        suite: &["duet", "--test", "it"],
        test: "programs_with_few_names_do_only_what_they_can_name",
        at: "tests/it/isolation.rs",
    },
    Fault {
        defence: "caveats make no value without end",
        file: "runtime/src/capability/caveat.rs",
        from: "allowance.take(made)?;",
        to: "let _ = &allowance;",
        suite: &["duet-runtime", "--lib"],
        test: "caveats_make_no_value_that_is_too_deep_or_too_long",
        at: "runtime/src/capability/caveat/tests.rs",
    },
];
