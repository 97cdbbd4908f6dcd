-- Version 1: gives branches up, with the records and blobs that only they lead to.
--
-- Blobs that a record names which was numbered after the mark stay. All such records are seen: an
-- append that names blobs holds the table's lock until its commit.
CREATE OR REPLACE FUNCTION duet_schema.remove(
    of_run text, run_epoch bigint, run_numbered bigint,
    gone_branches text[], gone_records bigint[], gone_blobs bytea[],
    mark_runs text[], mark_numbered bigint[]
) RETURNS text LANGUAGE plpgsql AS $remove$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'transactions of this role are %, and the store needs read committed',
            current_setting('transaction_isolation') USING ERRCODE = 'feature_not_supported';
    END IF;
    LOCK TABLE duet_schema.blobs IN SHARE ROW EXCLUSIVE MODE;
    PERFORM FROM duet_schema.runs WHERE name = of_run FOR NO KEY UPDATE;
    IF NOT EXISTS (
        SELECT FROM duet_schema.runs
        WHERE name = of_run AND epoch = run_epoch AND numbered = run_numbered
    ) OR EXISTS (
        SELECT FROM duet_schema.heads
        WHERE run = of_run AND record = ANY (gone_records) AND NOT branch = ANY (gone_branches)
    ) THEN
        RETURN 'stale';
    END IF;
    DELETE FROM duet_schema.heads WHERE run = of_run AND branch = ANY (gone_branches);
    DELETE FROM duet_schema.needs WHERE run = of_run AND branch = ANY (gone_branches);
    DELETE FROM duet_schema.inbox WHERE run = of_run AND branch = ANY (gone_branches);
    DELETE FROM duet_schema.records WHERE run = of_run AND number = ANY (gone_records);
    DELETE FROM duet_schema.blobs WHERE hash = ANY (gone_blobs) AND NOT EXISTS (
        SELECT FROM duet_schema.records AS late
        LEFT JOIN unnest(mark_runs, mark_numbered) AS mark (run, numbered) ON mark.run = late.run
        CROSS JOIN generate_series(0, length(late.blobs) / 32 - 1) AS place
        WHERE late.number >= coalesce(mark.numbered, 0)
            AND substring(late.blobs FROM place * 32 + 1 FOR 32) = blobs.hash
    );
    RETURN 'done';
END
$remove$;
