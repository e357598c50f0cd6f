import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { outputOf } from '../reliability/load/program.ts'

const rows = 1_000_000

/** The times of queries over many stored completions, one line each; seeding takes a minute or two. */
export async function listStored(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-bench-stored-'))
  try {
    const file = join(folder, 'weir.db')
    await outputOf(['test/bench/seed-completions.ts', file, String(rows)])
    return await outputOf(['test/bench/list-completions.ts', file])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
