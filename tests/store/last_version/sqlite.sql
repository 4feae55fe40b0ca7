CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL, 
    CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE bots (
    name TEXT NOT NULL, 
    name_whole TEXT, 
    game TEXT NOT NULL, 
    owner TEXT NOT NULL, 
    owner_whole TEXT, 
    registered BIGINT NOT NULL, 
    token_hash TEXT, 
    PRIMARY KEY (name)
);
CREATE TABLE matches (
    number INTEGER NOT NULL, 
    id TEXT NOT NULL, 
    game TEXT NOT NULL, 
    contest TEXT, 
    contest_whole TEXT, 
    started BIGINT NOT NULL, 
    seed TEXT NOT NULL, 
    options TEXT NOT NULL, 
    players TEXT NOT NULL, 
    status TEXT NOT NULL, 
    ended BIGINT, 
    result TEXT, 
    "view" TEXT, 
    reason TEXT NOT NULL, 
    PRIMARY KEY (number), 
    UNIQUE (id)
);
CREATE TABLE seats (
    number INTEGER NOT NULL, 
    player INTEGER NOT NULL, 
    name TEXT NOT NULL, 
    name_whole TEXT, 
    started BIGINT NOT NULL, 
    place INTEGER, 
    score DOUBLE, 
    cause TEXT, 
    PRIMARY KEY (number, player), 
    FOREIGN KEY(number) REFERENCES matches (number) ON DELETE CASCADE
)
 WITHOUT ROWID;
CREATE TABLE records (
    number INTEGER NOT NULL, 
    record BLOB NOT NULL, 
    flights BLOB NOT NULL, 
    PRIMARY KEY (number), 
    FOREIGN KEY(number) REFERENCES matches (number) ON DELETE CASCADE
);
CREATE INDEX matches_by_time ON matches (started, number);
CREATE INDEX matches_by_game ON matches (game, started, number);
CREATE INDEX matches_by_contest ON matches (game, contest, started) WHERE contest IS NOT NULL;
CREATE INDEX matches_running ON matches (started, number) WHERE status = 'running';
CREATE INDEX seats_by_name ON seats (name, started, number);
INSERT INTO alembic_version (version_num) VALUES ('first') RETURNING version_num;
ALTER TABLE bots ADD COLUMN url TEXT;
CREATE TABLE notes (
    book TEXT NOT NULL, 
    name TEXT NOT NULL, 
    name_whole TEXT, 
    value TEXT NOT NULL, 
    PRIMARY KEY (book, name)
);
UPDATE alembic_version SET version_num='second' WHERE alembic_version.version_num = 'first';
ALTER TABLE matches ADD COLUMN owners TEXT;
UPDATE alembic_version SET version_num='third' WHERE alembic_version.version_num = 'second';
CREATE TABLE heartbeats (
    name TEXT NOT NULL, 
    owner TEXT NOT NULL, 
    beat BIGINT NOT NULL, 
    PRIMARY KEY (name)
);
UPDATE alembic_version SET version_num='fourth' WHERE alembic_version.version_num = 'third';
ALTER TABLE bots ADD COLUMN likeness TEXT;
CREATE INDEX bots_by_likeness ON bots (likeness);
UPDATE alembic_version SET version_num='fifth' WHERE alembic_version.version_num = 'fourth';
ALTER TABLE matches ADD COLUMN pace TEXT;
UPDATE alembic_version SET version_num='sixth' WHERE alembic_version.version_num = 'fifth';
CREATE TABLE inputs (
    node TEXT NOT NULL, 
    epoch BIGINT NOT NULL, 
    number BIGINT NOT NULL, 
    data BLOB NOT NULL, 
    PRIMARY KEY (node, epoch, number)
);
UPDATE alembic_version SET version_num='inputs' WHERE alembic_version.version_num = 'sixth';
CREATE TABLE nodes (
    name TEXT NOT NULL, 
    epoch BIGINT NOT NULL, 
    alive BOOLEAN NOT NULL, 
    messages INTEGER NOT NULL, 
    machine TEXT NOT NULL, 
    handover TEXT NOT NULL, 
    version TEXT NOT NULL, 
    url TEXT NOT NULL, 
    draining BOOLEAN NOT NULL, 
    beat BIGINT NOT NULL, 
    load TEXT NOT NULL, 
    PRIMARY KEY (name)
);
CREATE UNIQUE INDEX nodes_by_epoch ON nodes (name, epoch);
CREATE TABLE homes (
    "key" TEXT NOT NULL, 
    node TEXT NOT NULL, 
    PRIMARY KEY ("key")
);
ALTER TABLE matches ADD COLUMN node TEXT DEFAULT '' NOT NULL;
ALTER TABLE matches ADD COLUMN former TEXT;
UPDATE alembic_version SET version_num='nodes' WHERE alembic_version.version_num = 'inputs';
ALTER TABLE matches ADD COLUMN versions TEXT;
UPDATE alembic_version SET version_num='bot versions' WHERE alembic_version.version_num = 'nodes';
