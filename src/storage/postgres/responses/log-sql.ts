/** SQL for the complete log of a row of `responses`. */
export const completeLog = `CASE status WHEN 'in_progress' THEN log || coalesce((SELECT string_agg(entries, '' ORDER BY position)
  FROM response_log WHERE response_id = responses.id), '') ELSE log END`
