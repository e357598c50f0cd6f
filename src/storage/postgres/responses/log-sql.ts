/** SQL for the complete log of a row of `responses`. */
export const completeLog = `CASE status WHEN 'in_progress' THEN log || coalesce((SELECT string_agg(entries, '' ORDER BY position)
  FROM response_log WHERE response_id = responses.id), '') ELSE log END`

/** SQL for its size in bytes. */
export const logSize = `octet_length(log) + CASE status WHEN 'in_progress' THEN coalesce((SELECT sum(octet_length(entries))
  FROM response_log WHERE response_id = responses.id), 0) ELSE 0 END`

/** SQL for the number of its pieces. */
export const pieceCount = `CASE status WHEN 'in_progress' THEN (SELECT count(*) FROM response_log
  WHERE response_id = responses.id) ELSE 0 END::int`
