import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { startScript, temporaryFolder, testDatabase } from '../../unit/storage/support/folder.ts'

test('a process that is killed while it writes loses nothing that it acknowledged', async () => {
  for (const enough of [1, 2000, 10_000]) {
    const file = join(temporaryFolder(), 'weir.db')
    const acknowledged = await acknowledgedBeforeKill(file, enough)
    expect(acknowledged.length).toBeGreaterThanOrEqual(enough)
    const { sqlite } = testDatabase(file)
    const kept = new Set(sqlite.prepare('SELECT number FROM numbers').values().flat())
    expect(acknowledged.filter((number) => !kept.has(number))).toEqual([])
    expect(sqlite.prepare('PRAGMA integrity_check').values()).toEqual([['ok']])
  }
})

/** The numbers that the process told before it was killed, soon after it had told `enough` of them. */
async function acknowledgedBeforeKill(file: string, enough: number): Promise<number[]> {
  const child = startScript('reliability/storage/support/write-forever.ts', file)
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
