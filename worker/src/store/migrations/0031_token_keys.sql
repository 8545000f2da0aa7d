-- The oldest tokens of a key make room for new ones.
CREATE INDEX token_key ON token (project, record ->> 'id', expires_at);
