-- Version 1: one group commit, in one statement, all of it or nothing.
--
-- It returns 'done', or changes nothing and returns why: 'stale' if a run or head is not what the
-- caller read, 'known' if a record is there already, 'blob' if a blob is missing,
-- 'letter' if a letter that the records have heard is not there to be taken.
--
-- The rows of the runs are locked first. In READ COMMITTED each statement below sees all that was
-- committed before it began, so all that earlier holders of these locks wrote.
--
-- The server would plan most of the statements anew in each call, because it takes arrays of unknown
-- length for long; that takes longer than they do. A plan that is kept may not read a table whole
-- that was small when it was made.
CREATE OR REPLACE FUNCTION duet_schema.append(
    run_names text[], run_epochs bigint[], run_numbered bigint[], run_then bigint[], run_owners text[],
    run_seals bytea[],
    head_runs text[], head_branches text[], head_before bytea[], head_sequences bigint[], head_records bigint[],
    head_hashes bytea[], head_seals bytea[],
    record_runs text[], record_numbers bigint[], record_sequences bigint[], record_parents bigint[],
    record_begun bigint[], record_times bigint[], record_hashes bytea[], record_blobs bytea[],
    record_bytes bytea[], record_seals bytea[],
    blob_hashes bytea[], blob_bytes bytea[], blobs_needed bytea[],
    need_runs text[], need_branches text[], need_at bigint[],
    taken_runs text[], taken_letters bytea[], taken_replies bytea[]
) RETURNS text LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $append$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'transactions of this role are %, and the store needs read committed',
            current_setting('transaction_isolation') USING ERRCODE = 'feature_not_supported';
    END IF;
    -- A commit that is acknowledged is on the disk, whatever the role's default is.
    IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    -- Nobody removes blobs meanwhile. A removal locks the table before rows, too; so nothing below may
    -- lock it for the first time.
    IF cardinality(blob_hashes) + cardinality(blobs_needed) > 0 THEN
        LOCK TABLE duet_schema.blobs IN ROW EXCLUSIVE MODE;
    END IF;
    PERFORM FROM duet_schema.runs WHERE name = ANY (run_names) ORDER BY name FOR NO KEY UPDATE;

    IF EXISTS (
        SELECT FROM unnest(run_names, run_epochs, run_numbered) AS mine (name, epoch, numbered)
        LEFT JOIN duet_schema.runs AS found ON found.name = mine.name
        WHERE found.epoch IS DISTINCT FROM mine.epoch OR found.numbered IS DISTINCT FROM mine.numbered
    ) OR EXISTS (
        SELECT FROM unnest(head_runs, head_branches, head_before) AS mine (run, branch, hash)
        LEFT JOIN duet_schema.heads AS found ON found.run = mine.run AND found.branch = mine.branch
        WHERE found.hash IS DISTINCT FROM mine.hash
    ) THEN
        RETURN 'stale';
    END IF;
    IF EXISTS (SELECT FROM duet_schema.records WHERE hash = ANY (record_hashes)) THEN
        RETURN 'known';
    END IF;
    -- Conditions without a query are cheap, and mostly there is nothing to look for.
    IF cardinality(blobs_needed) > 0 THEN
        IF EXISTS (
            SELECT FROM unnest(blobs_needed) AS needed (hash)
            WHERE NOT EXISTS (SELECT FROM duet_schema.blobs WHERE blobs.hash = needed.hash)
        ) THEN
            RETURN 'blob';
        END IF;
    END IF;
    IF cardinality(taken_letters) > 0 THEN
        IF cardinality(taken_letters) <> (
            SELECT count(*) FROM unnest(taken_runs, taken_letters) AS taken (run, letter)
            JOIN duet_schema.inbox AS found ON found.run = taken.run AND found.letter = taken.letter
            WHERE found.reply IS NULL
        ) THEN
            RETURN 'letter';
        END IF;
    END IF;

    IF cardinality(blob_hashes) > 0 THEN
        INSERT INTO duet_schema.blobs (hash, bytes)
        SELECT * FROM unnest(blob_hashes, blob_bytes) ON CONFLICT (hash) DO NOTHING;
    END IF;
    INSERT INTO duet_schema.records (run, number, sequence, parent, begun, time, hash, blobs, bytes, seal)
    SELECT * FROM unnest(
        record_runs, record_numbers, record_sequences, record_parents, record_begun, record_times,
        record_hashes, record_blobs, record_bytes, record_seals
    );
    INSERT INTO duet_schema.heads (run, branch, sequence, record, hash, seal)
    SELECT * FROM unnest(head_runs, head_branches, head_sequences, head_records, head_hashes, head_seals)
    ON CONFLICT (run, branch) DO UPDATE SET
        sequence = excluded.sequence, record = excluded.record, hash = excluded.hash, seal = excluded.seal;
    UPDATE duet_schema.runs SET numbered = mine.numbered, owner = mine.owner, seal = mine.seal
    FROM unnest(run_names, run_then, run_owners, run_seals) AS mine (name, numbered, owner, seal)
    WHERE runs.name = mine.name;
    -- A run that goes on needs the same as before, so mostly there is nothing to write here.
    IF cardinality(need_runs) > 0 THEN
        DELETE FROM duet_schema.needs USING unnest(need_runs, need_branches, need_at) AS mine (run, branch, at)
        WHERE needs.run = mine.run AND needs.branch = mine.branch AND mine.at IS NULL;
        INSERT INTO duet_schema.needs (run, branch, at)
        SELECT * FROM unnest(need_runs, need_branches, need_at) AS mine (run, branch, at) WHERE mine.at IS NOT NULL
        ON CONFLICT (run, branch) DO UPDATE SET at = excluded.at;
    END IF;
    IF cardinality(taken_letters) > 0 THEN
        UPDATE duet_schema.inbox SET body = '', reply = taken.reply
        FROM unnest(taken_runs, taken_letters, taken_replies) AS taken (run, letter, reply)
        WHERE inbox.run = taken.run AND inbox.letter = taken.letter;
    END IF;
    RETURN 'done';
END
$append$;
