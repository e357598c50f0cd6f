import start from '../../../../drizzle/0000_start.sql' with { type: 'text' }
import money from '../../../../drizzle/0001_money.sql' with { type: 'text' }
import stored from '../../../../drizzle/0002_stored.sql' with { type: 'text' }
import oneTree from '../../../../drizzle/0003_one_tree_a_table.sql' with { type: 'text' }
import negativeBalances from '../../../../drizzle/0004_negative_balances.sql' with { type: 'text' }
import deletionInSteps from '../../../../drizzle/0005_deletion_in_steps.sql' with { type: 'text' }
import usageTotals from '../../../../drizzle/0006_usage_totals.sql' with { type: 'text' }
import processes from '../../../../drizzle/0007_processes.sql' with { type: 'text' }
import osProcesses from '../../../../drizzle/0008_os_processes.sql' with { type: 'text' }
import oneProcess from '../../../../drizzle/0009_one_process.sql' with { type: 'text' }

/** The SQL of every migration, in the order of drizzle/meta/_journal.json; its length is the newest schema. */
export const migrations: readonly string[] = [
  start,
  money,
  stored,
  oneTree,
  negativeBalances,
  deletionInSteps,
  usageTotals,
  processes,
  osProcesses,
  oneProcess,
]
