-- The keys of customers become digests. `blind_index::mark_keys` replaces them and builds the index again, as pages of the old one
-- contain the names.

DROP INDEX document_key;
