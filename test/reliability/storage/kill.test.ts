import { expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { startScript, temporaryFolder, testDatabase } from '../../unit/storage/support/folder.ts'

test('a process that is killed while it writes loses nothing that it acknowledged', async () => {
  for (const enough of [1, 2000, 10_000]) await killAfter(enough, { rowSize: 0, copied: 0 })
})

test('a process that is killed while a thread copies its log loses nothing that it acknowledged', async () => {
  // Rows of which 400 are a long log, so that at any time a log is copied, or started again.
  for (const enough of [1, 1000, 1500, 2100, 2800, 3600])
    await killAfter(enough, { rowSize: 40_000, copied: 10_000_000 })
})

/** The characters of each row, and the bytes that the database without its log has at least before the kill. */
type Load = { readonly rowSize: number; readonly copied: number }

/** Kills a process soon after it has told this many rows, and finds them all. */
async function killAfter(enough: number, load: Load): Promise<void> {
  const file = join(temporaryFolder(), 'weir.db')
  const acknowledged = await acknowledgedBeforeKill(file, enough, load)
  expect(acknowledged.length).toBeGreaterThanOrEqual(enough)
  const { sqlite } = testDatabase(file)
  const kept = new Set(sqlite.prepare('SELECT number FROM numbers').values().flat())
  expect(acknowledged.filter((number) => !kept.has(number))).toEqual([])
  expect(sqlite.prepare('PRAGMA integrity_check').values()).toEqual([['ok']])
}

/** The numbers that the process told before it was killed, soon after it had told `enough` of them. */
async function acknowledgedBeforeKill(
  file: string,
  enough: number,
  { rowSize, copied }: Load,
): Promise<number[]> {
  const child = startScript('reliability/storage/support/write-forever.ts', file, String(rowSize))
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of child.stdout) {
    text += decoder.decode(bytes, { stream: true })
    if (text.split('\n', enough + 1).length > enough && statSync(file).size >= copied) child.kill('SIGKILL')
  }
  await child.exited
  // What follows the last line end was cut off by the kill.
  return text.split('\n').slice(0, -1).map(Number)
}
