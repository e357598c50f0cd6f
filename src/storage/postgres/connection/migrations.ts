import start from '../../../../drizzle/postgres/0000_start.sql' with { type: 'text' }
import processes from '../../../../drizzle/postgres/0001_processes.sql' with { type: 'text' }
import usageTotals from '../../../../drizzle/postgres/0002_usage_totals.sql' with { type: 'text' }
import osProcesses from '../../../../drizzle/postgres/0003_os_processes.sql' with { type: 'text' }
import totalsByStart from '../../../../drizzle/postgres/0004_usage_totals_by_start.sql' with { type: 'text' }
import keysByPosition from '../../../../drizzle/postgres/0005_api_keys_by_position.sql' with { type: 'text' }

/** The SQL of every migration, in the order of drizzle/postgres/meta/_journal.json; its length is the newest schema. */
export const migrations: readonly string[] = [
  start,
  processes,
  usageTotals,
  osProcesses,
  totalsByStart,
  keysByPosition,
]
