-- Version 1: the tables. `duet_schema` stands for the name of the store's schema.
-- No sequence and no clock of the server orders records: the owner of a run numbers them.

-- Who may not make schemas may have been given an empty one.
DO $make$
BEGIN
    IF to_regnamespace('duet_schema') IS NULL THEN
        CREATE SCHEMA duet_schema;
    END IF;
END
$make$;

CREATE TABLE IF NOT EXISTS duet_schema.store (
    id smallint PRIMARY KEY CHECK (id = 1),
    kind text NOT NULL,                         -- 'duet journal'
    version bigint NOT NULL,                    -- of the tables and functions
    oldest bigint NOT NULL                      -- the version of the oldest programs that may use them
);

CREATE TABLE IF NOT EXISTS duet_schema.runs (
    name text COLLATE "C" PRIMARY KEY,
    epoch bigint NOT NULL,
    owner text NOT NULL,                        -- who holds the newest epoch; empty if given up
    numbered bigint NOT NULL,                   -- the number of the run's next record; it never goes back
    seal bytea NOT NULL
);

CREATE TABLE IF NOT EXISTS duet_schema.notes (
    run text COLLATE "C" PRIMARY KEY,
    note bytea NOT NULL,                        -- what only this store says of the run
    seal bytea NOT NULL
);

CREATE TABLE IF NOT EXISTS duet_schema.heads (
    run text COLLATE "C" NOT NULL,
    branch text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    record bigint NOT NULL,                     -- records.number
    hash bytea NOT NULL,
    seal bytea NOT NULL,
    PRIMARY KEY (run, branch)
);

CREATE TABLE IF NOT EXISTS duet_schema.records (
    run text COLLATE "C" NOT NULL,
    number bigint NOT NULL,                     -- above its parent's
    sequence bigint NOT NULL,
    parent bigint,                              -- records.number
    begun bigint NOT NULL,                      -- from this number on, each record is the parent of the next
    time bigint NOT NULL,                       -- ms since 1970; 0 if nobody knows it
    hash bytea NOT NULL UNIQUE,                 -- BLAKE3 of bytes, with the parent's hash as the key
    blobs bytea NOT NULL,                       -- the names of the blobs that it refers to, 32 bytes each
    bytes bytea NOT NULL,                       -- canonical packed Preserves
    seal bytea NOT NULL,
    PRIMARY KEY (run, number)
);

CREATE TABLE IF NOT EXISTS duet_schema.blobs (
    hash bytea PRIMARY KEY,
    bytes bytea NOT NULL
);

-- The rows of the next four tables have no seals: they say when to look at a run, and what others
-- say; records prove the rest.

CREATE TABLE IF NOT EXISTS duet_schema.needs (
    run text COLLATE "C" NOT NULL,
    branch text COLLATE "C" NOT NULL,
    at bigint NOT NULL,                         -- a moment in ms since 1970; -1 for an input
    PRIMARY KEY (run, branch)
);
CREATE INDEX IF NOT EXISTS due ON duet_schema.needs (at, run, branch) WHERE at >= 0;

CREATE TABLE IF NOT EXISTS duet_schema.inbox (
    run text COLLATE "C" NOT NULL,
    letter bytea NOT NULL,                      -- 16 bytes, chosen by the sender
    branch text COLLATE "C" NOT NULL,
    sent bigint NOT NULL,                       -- ms since 1970 by the sender's clock
    body bytea NOT NULL,                        -- empty once it is taken
    reply bytea,                                -- NULL until it is taken
    PRIMARY KEY (run, letter)
);
CREATE INDEX IF NOT EXISTS unread ON duet_schema.inbox (run, branch) WHERE reply IS NULL;

CREATE TABLE IF NOT EXISTS duet_schema.workers (
    name text COLLATE "C" PRIMARY KEY,
    told text NOT NULL                          -- what it says of itself
);

CREATE TABLE IF NOT EXISTS duet_schema.lines (
    run text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,             -- 'marks' or 'moves'
    number bigint GENERATED ALWAYS AS IDENTITY, -- the order in which people's commands added them
    line text NOT NULL,
    PRIMARY KEY (run, kind, number)
);

CREATE OR REPLACE VIEW duet_schema.journal AS
    SELECT run, branch, sequence AS head, encode(hash, 'hex') AS hash FROM duet_schema.heads;
