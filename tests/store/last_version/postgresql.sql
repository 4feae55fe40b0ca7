CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL, 
    CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE bots (
    name TEXT COLLATE "C" NOT NULL, 
    name_whole TEXT, 
    game TEXT COLLATE "C" NOT NULL, 
    owner TEXT COLLATE "C" NOT NULL, 
    owner_whole TEXT, 
    registered BIGINT NOT NULL, 
    token_hash TEXT, 
    PRIMARY KEY (name)
);
CREATE TABLE matches (
    number BIGSERIAL NOT NULL, 
    id TEXT COLLATE "C" NOT NULL, 
    game TEXT COLLATE "C" NOT NULL, 
    contest TEXT COLLATE "C", 
    contest_whole TEXT, 
    started BIGINT NOT NULL, 
    seed TEXT NOT NULL, 
    options TEXT NOT NULL, 
    players TEXT NOT NULL, 
    status TEXT COLLATE "C" NOT NULL, 
    ended BIGINT, 
    result TEXT, 
    view TEXT, 
    reason TEXT NOT NULL, 
    PRIMARY KEY (number), 
    UNIQUE (id)
);
CREATE TABLE seats (
    number BIGINT NOT NULL, 
    player INTEGER NOT NULL, 
    name TEXT COLLATE "C" NOT NULL, 
    name_whole TEXT, 
    started BIGINT NOT NULL, 
    place INTEGER, 
    score DOUBLE PRECISION, 
    cause TEXT, 
    PRIMARY KEY (number, player), 
    FOREIGN KEY(number) REFERENCES matches (number) ON DELETE CASCADE
)
 WITH (fillfactor = 70);
CREATE TABLE records (
    number BIGINT NOT NULL, 
    record BYTEA NOT NULL, 
    flights BYTEA NOT NULL, 
    PRIMARY KEY (number), 
    FOREIGN KEY(number) REFERENCES matches (number) ON DELETE CASCADE
)
 WITH (toast_tuple_target = 8160);
CREATE INDEX matches_by_time ON matches (started, number);
CREATE INDEX matches_by_game ON matches (game, started, number);
CREATE INDEX matches_by_contest ON matches (game, contest, started) WHERE contest IS NOT NULL;
CREATE INDEX matches_running ON matches (started, number) WHERE status = 'running';
CREATE INDEX seats_by_name ON seats (name, started, number);
INSERT INTO alembic_version (version_num) VALUES ('first') RETURNING alembic_version.version_num;
ALTER TABLE bots ADD COLUMN url TEXT;
CREATE TABLE notes (
    book TEXT COLLATE "C" NOT NULL, 
    name TEXT COLLATE "C" NOT NULL, 
    name_whole TEXT, 
    value TEXT NOT NULL, 
    PRIMARY KEY (book, name)
);
UPDATE alembic_version SET version_num='second' WHERE alembic_version.version_num = 'first';
ALTER TABLE matches ADD COLUMN owners TEXT;
UPDATE alembic_version SET version_num='third' WHERE alembic_version.version_num = 'second';
CREATE TABLE heartbeats (
    name TEXT COLLATE "C" NOT NULL, 
    owner TEXT NOT NULL, 
    beat BIGINT NOT NULL, 
    PRIMARY KEY (name)
);
UPDATE alembic_version SET version_num='fourth' WHERE alembic_version.version_num = 'third';
ALTER TABLE bots ADD COLUMN likeness TEXT COLLATE "C";
CREATE INDEX bots_by_likeness ON bots (likeness);
UPDATE alembic_version SET version_num='fifth' WHERE alembic_version.version_num = 'fourth';
ALTER TABLE matches ADD COLUMN pace TEXT COLLATE "C";
UPDATE alembic_version SET version_num='sixth' WHERE alembic_version.version_num = 'fifth';
CREATE TABLE inputs (
    node TEXT COLLATE "C" NOT NULL, 
    epoch BIGINT NOT NULL, 
    number BIGINT NOT NULL, 
    data BYTEA NOT NULL, 
    PRIMARY KEY (node, epoch, number)
);
UPDATE alembic_version SET version_num='inputs' WHERE alembic_version.version_num = 'sixth';
CREATE TABLE nodes (
    name TEXT COLLATE "C" NOT NULL, 
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
    key TEXT COLLATE "C" NOT NULL, 
    node TEXT COLLATE "C" NOT NULL, 
    PRIMARY KEY (key)
);
ALTER TABLE matches ADD COLUMN node TEXT COLLATE "C" DEFAULT '' NOT NULL;
ALTER TABLE matches ADD COLUMN former TEXT;
UPDATE alembic_version SET version_num='nodes' WHERE alembic_version.version_num = 'inputs';
ALTER TABLE matches ADD COLUMN versions TEXT;
UPDATE alembic_version SET version_num='bot versions' WHERE alembic_version.version_num = 'nodes';
