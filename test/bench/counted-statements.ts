import { Database, type Statement } from 'bun:sqlite'

/** The statements that this process runs while they are counted; the counting ends with its scope. */
export type CountedStatements = Disposable & {
  /** What the work runs, by its text. It receives the counts up to now. */
  during(
    work: (counts: ReadonlyMap<string, number>) => Promise<unknown>,
  ): Promise<ReadonlyMap<string, number>>
}

/** Counts the statements of databases that are opened from now on. */
export function countStatements(): CountedStatements {
  const { prepare, run } = Database.prototype
  let counts = new Map<string, number>()
  const count = (text: string) => void counts.set(text, (counts.get(text) ?? 0) + 1)

  Database.prototype.prepare = function counted(this: Database, ...args: Parameters<typeof prepare>) {
    const statement: Statement = prepare.apply(this, args)
    for (const name of ['run', 'get', 'all', 'values'] as const) wrap(statement, name, () => count(args[0]))
    return statement
  } as typeof prepare
  Database.prototype.run = function counted(this: Database, ...args: Parameters<typeof run>) {
    count(args[0])
    return run.apply(this, args)
  } as typeof run

  return {
    async during(work) {
      counts = new Map()
      await work(counts)
      return counts
    },
    [Symbol.dispose]: () => void Object.assign(Database.prototype, { prepare, run }),
  }
}

function wrap(statement: Statement, name: 'run' | 'get' | 'all' | 'values', count: () => void): void {
  const original = statement[name] as (...values: unknown[]) => unknown
  const counted = (...values: unknown[]) => {
    count()
    return original.apply(statement, values)
  }
  Object.assign(statement, { [name]: counted })
}
