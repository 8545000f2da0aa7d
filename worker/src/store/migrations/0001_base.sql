-- The tables of documents, ledger, idempotency, code generators, jobs and tokens.

CREATE TABLE document (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, id TEXT NOT NULL, key TEXT, parent TEXT, holder TEXT,
  created_at INTEGER NOT NULL, updated_at INTEGER, body TEXT NOT NULL);

CREATE UNIQUE INDEX document_id ON document (kind, id);

CREATE UNIQUE INDEX document_key ON document (kind, key) WHERE key IS NOT NULL;

CREATE INDEX document_created ON document (kind, created_at, seq);

CREATE INDEX document_parent ON document (kind, parent, seq) WHERE parent IS NOT NULL;

CREATE INDEX document_holder ON document (kind, holder, seq) WHERE holder IS NOT NULL;

-- A publication of a campaign takes the oldest code without a holder.
CREATE INDEX document_free ON document (parent, seq) WHERE kind = 'voucher' AND holder IS NULL;

CREATE TABLE account (id TEXT PRIMARY KEY, balance INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE transfer (
  id TEXT PRIMARY KEY, chain TEXT NOT NULL, debit TEXT NOT NULL, credit TEXT NOT NULL, amount INTEGER NOT NULL,
  reverses TEXT UNIQUE, at INTEGER NOT NULL) WITHOUT ROWID;

CREATE INDEX transfer_chain ON transfer (chain);

CREATE TABLE hold (
  key TEXT NOT NULL, account TEXT NOT NULL, amount INTEGER NOT NULL, expires_at INTEGER NOT NULL,
  PRIMARY KEY (key, account)) WITHOUT ROWID;

CREATE INDEX hold_account ON hold (account, expires_at);

CREATE INDEX hold_expiry ON hold (expires_at);

CREATE TABLE idempotency (
  caller TEXT NOT NULL, request TEXT NOT NULL, key TEXT NOT NULL, body_hash TEXT NOT NULL, status INTEGER NOT NULL,
  headers TEXT NOT NULL, body TEXT NOT NULL, created_at INTEGER NOT NULL,
  PRIMARY KEY (caller, request, key)) WITHOUT ROWID;

CREATE INDEX idempotency_age ON idempotency (created_at);

-- The state of a code generator: one row for a campaign and a shape of codes.
CREATE TABLE generator (id TEXT PRIMARY KEY, secret TEXT NOT NULL, counter INTEGER NOT NULL) WITHOUT ROWID;

-- Deferred work; the object's alarm is set to the earliest row.
CREATE TABLE due (id TEXT PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL, cursor TEXT NOT NULL,
  attempts INTEGER NOT NULL) WITHOUT ROWID;

CREATE INDEX due_at ON due (at);

CREATE TABLE token (
  sha256 TEXT PRIMARY KEY, project TEXT NOT NULL, record TEXT NOT NULL, expires_at INTEGER NOT NULL) WITHOUT ROWID;

CREATE INDEX token_expiry ON token (project, expires_at);
