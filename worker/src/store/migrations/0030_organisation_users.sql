-- A user belongs to one organisation: to each that has one of the user's projects, and to each with a key for the login that had no
-- permissions without a role.

CREATE TABLE user_of AS
  SELECT named.id, COALESCE(project.parent, named.project) AS organisation FROM (
    SELECT user.id, role.key AS project FROM document AS user, json_each(user.body, '$.projects') AS role WHERE user.kind = 'user'
    UNION
    SELECT user.id, key.parent FROM document AS user JOIN document AS key ON key.kind = 'key' AND key.body ->> 'user' = user.key
    WHERE user.kind = 'user' AND (key.holder = 'made' OR user.body -> 'projects' = '{}')) AS named
  LEFT JOIN document AS project ON project.kind = 'project' AND project.id = named.project
  GROUP BY 1, 2;

-- Further organisations of a login get users of their own.
INSERT INTO document (kind, id, key, parent, created_at, updated_at, body)
  SELECT 'user', 'user_' || lower(hex(randomblob(16))), user_of.organisation || '/' || user.key, user_of.organisation, user.created_at,
    user.updated_at, user.body
  FROM user_of JOIN document AS user ON user.kind = 'user' AND user.id = user_of.id
  WHERE user_of.organisation > (SELECT MIN(organisation) FROM user_of AS other WHERE other.id = user_of.id);

UPDATE document SET parent = (SELECT MIN(organisation) FROM user_of WHERE user_of.id = document.id) WHERE kind = 'user' AND parent IS NULL;

UPDATE document SET key = parent || '/' || (body ->> 'login') WHERE kind = 'user' AND parent IS NOT NULL;

DROP TABLE user_of;

-- A user without any project or key is shown by no list.
DELETE FROM document WHERE kind = 'user' AND parent IS NULL;

UPDATE document SET body = json_set(body, '$.id', id, '$.projects', json((
    SELECT json_group_object(role.key, role.value) FROM json_each(document.body, '$.projects') AS role
    WHERE COALESCE((SELECT project.parent FROM document AS project WHERE project.kind = 'project' AND project.id = role.key), role.key)
      = document.parent)))
  WHERE kind = 'user';
