-- Keys of codes are folded. Only a call knows which projects ignore case: this leaves a mark for `code_key::settle_keys`.
-- `blind_index::fold_labels` follows.

INSERT INTO document (kind, id, created_at, body) SELECT 'secret', 'unfolded_codes', 0, '{}'
  WHERE EXISTS (SELECT 1 FROM document WHERE kind = 'voucher' AND key GLOB '*[^ -~]*')
     OR EXISTS (SELECT 1 FROM document WHERE kind = 'bin_entry' AND key GLOB 'voucher/*[^ -~]*');
