import { createRunScript } from '../../src/storage/sqlite/run-script.ts'
import { createPrepared, type Database } from '../../src/storage/sqlite/connection/database.ts'

/** How SQLite goes about a statement, by its text. */
export type QueryPlans = ReadonlyMap<string, string>

/** The plans of all statements that `prepare` prepares, or executes in scripts, on a database. */
export function plansOf(database: Database, prepare: (database: Database) => unknown): QueryPlans {
  const { recorded, plans } = recordPlans(database)
  prepare(recorded)
  return plans()
}

/** The database, and the plans of all statements that are prepared on `recorded` until then. */
export function recordPlans(database: Database): { recorded: Database; plans: () => QueryPlans } {
  const texts: string[] = []
  const sqlite = new Proxy(database.sqlite, {
    get(target, name) {
      if (name === 'prepare') {
        return (text: string) => {
          texts.push(text)
          return target.prepare(text)
        }
      }
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return {
    recorded: { ...database, sqlite, run: createRunScript(sqlite), prepared: createPrepared(sqlite) },
    plans: () => new Map(texts.map((text) => [text, planOf(database, text)])),
  }
}

function planOf({ sqlite }: Database, text: string): string {
  // The explanation of a deletion with a trigger on a virtual table would stay in progress.
  using statement = sqlite.prepare<{ readonly detail: string }, []>(`EXPLAIN QUERY PLAN ${text}`)
  return statement
    .all()
    .map(({ detail }) => detail)
    .join('; ')
}
