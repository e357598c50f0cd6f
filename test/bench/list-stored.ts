import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { outputOf } from '../reliability/load/program.ts'

const rows = 1_000_000

/** The times of queries over many stored completions. */
export type ListTimes = {
  /** One line for each query. */
  readonly text: string
  /** Milliseconds of the median, by query. */
  readonly medians: ReadonlyMap<string, number>
}

/** Measures the queries on a new database; seeding it takes a minute or two. */
export async function listStored(): Promise<ListTimes> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-bench-stored-'))
  try {
    const file = join(folder, 'weir.db')
    await outputOf(['test/bench/seed-completions.ts', file, String(rows)])
    const text = await outputOf(['test/bench/list-completions.ts', file])
    return { text, medians: mediansIn(text) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Reads the medians from the lines that list-completions.ts prints. */
export function mediansIn(text: string): ReadonlyMap<string, number> {
  const lines = text.matchAll(/^(.+?) +median +([\d.]+) +worst/gm)
  return new Map(Array.from(lines, ([, name = '', median]) => [name, Number(median)]))
}
