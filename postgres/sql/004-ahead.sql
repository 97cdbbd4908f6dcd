-- Version 1: what it takes to open branches, in one statement: a row for each branch that exists.
--
-- The records are the newest `many` of the branch with the one before them, as far as each is the
-- parent of the next, and the first of the branch if that leads to it. Plans are kept, as those of
-- `append` are.
CREATE OR REPLACE FUNCTION duet_schema.ahead(of_runs text[], of_branches text[], many bigint)
RETURNS TABLE (
    run text, epoch bigint, owner text, run_seal bytea, numbered bigint,
    branch text, head_sequence bigint, head_record bigint, head_hash bytea, head_seal bytea,
    needed_at bigint, note bytea, note_seal bytea, has_letters boolean,
    numbers bigint[], sequences bigint[], parents bigint[], begun bigint[], times bigint[],
    hashes bytea[], seals bytea[], bytes bytea[]
) LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $ahead$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT r.name, r.epoch, r.owner, r.seal, r.numbered,
        h.branch, h.sequence, h.record, h.hash, h.seal,
        (SELECT needs.at FROM duet_schema.needs WHERE needs.run = h.run AND needs.branch = h.branch),
        notes.note, notes.seal,
        EXISTS (
            SELECT FROM duet_schema.inbox
            WHERE inbox.run = h.run AND inbox.branch = h.branch AND inbox.reply IS NULL
        ),
        found.numbers, found.sequences, found.parents, found.begun, found.times,
        found.hashes, found.seals, found.bytes
    FROM unnest(of_runs, of_branches) AS asked (run, branch)
    JOIN duet_schema.runs AS r ON r.name = asked.run
    JOIN duet_schema.heads AS h ON h.run = asked.run AND h.branch = asked.branch
    JOIN duet_schema.records AS newest ON newest.run = h.run AND newest.number = h.record
    LEFT JOIN duet_schema.notes ON notes.run = r.name
    CROSS JOIN LATERAL (
        SELECT array_agg(c.number) AS numbers, array_agg(c.sequence) AS sequences,
            array_agg(c.parent) AS parents, array_agg(c.begun) AS begun, array_agg(c.time) AS times,
            array_agg(c.hash) AS hashes, array_agg(c.seal) AS seals, array_agg(c.bytes) AS bytes
        FROM (
            SELECT * FROM duet_schema.records AS c
            WHERE c.run = h.run AND c.number <= newest.number
                AND c.number >= greatest(newest.begun, newest.number - many)
            UNION ALL
            SELECT * FROM duet_schema.records AS c
            WHERE c.run = h.run AND c.number = newest.begun AND c.sequence = 0
                AND newest.begun < newest.number - many
        ) AS c
    ) AS found;
END
$ahead$;
