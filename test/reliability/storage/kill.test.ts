import { expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { startScript, temporaryFolder, testDatabase } from '../../unit/storage/support/folder.ts'

test('a process that is killed while it writes loses nothing that it acknowledged', async () => {
  for (const enough of [1, 2000, 10_000]) await killAfter(enough, '0')
})

test('a process that is killed while a thread copies its log loses nothing that it acknowledged', async () => {
  // Rows of which 400 are a long log, so that at any time a log is copied, or started again.
  for (const enough of [600, 1000, 1500, 2100, 2800, 3600]) {
    const { size } = await killAfter(enough, '40000')
    expect(size).toBeGreaterThan(10_000_000)
  }
})

/** Kills a process soon after it has told this many rows; resolves with the bytes of the database without its log. */
async function killAfter(enough: number, rowSize: string): Promise<{ size: number }> {
  const file = join(temporaryFolder(), 'weir.db')
  const acknowledged = await acknowledgedBeforeKill([file, rowSize], enough)
  expect(acknowledged.length).toBeGreaterThanOrEqual(enough)
  const { size } = statSync(file)
  const { sqlite } = testDatabase(file)
  const kept = new Set(sqlite.prepare('SELECT number FROM numbers').values().flat())
  expect(acknowledged.filter((number) => !kept.has(number))).toEqual([])
  expect(sqlite.prepare('PRAGMA integrity_check').values()).toEqual([['ok']])
  return { size }
}

/** The numbers that the process told before it was killed, soon after it had told `enough` of them. */
async function acknowledgedBeforeKill(args: readonly string[], enough: number): Promise<number[]> {
  const child = startScript('reliability/storage/support/write-forever.ts', ...args)
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of child.stdout) {
    text += decoder.decode(bytes, { stream: true })
    if (text.split('\n', enough + 1).length > enough) child.kill('SIGKILL')
  }
  await child.exited
  // What follows the last line end was cut off by the kill.
  return text.split('\n').slice(0, -1).map(Number)
}
