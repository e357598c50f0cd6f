import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { silentLog } from '../../../src/lib/log.ts'
import type { StoredResponse } from '../../../src/storage/ports/responses.ts'
import { openDatabase } from '../../../src/storage/sqlite/connection/database.ts'
import { createOrganizations } from '../../../src/storage/scripts/organization-changes.ts'
import { createScriptRunner } from '../../../src/storage/sqlite/script-runner.ts'
import { sqliteResponses } from '../../unit/storage/support/sqlite-responses.ts'
import { Writer } from '../../../src/storage/sqlite/writer.ts'
import { startScript, temporaryFolder } from '../../unit/storage/support/folder.ts'
import { testChange } from '../../support/actor.ts'

test('the acknowledged events of a run survive a kill of its process', async () => {
  const file = join(temporaryFolder(), 'weir.db')
  const organization = await newOrganization(file)
  const seen = { piece: 0, finished: 0, removed: 0 }
  for (const enough of [1, 400, 2500]) {
    const lines = await acknowledgedBeforeKill(file, organization, enough)
    const database = openDatabase(file, silentLog)
    const responses = sqliteResponses(database, new Writer(database))
    for (const [id, received] of lastOf(lines)) {
      expectKept(received, await responses.find(organization, id))
      if (received.word !== 'queued') seen[received.word]++
    }
    database.close()
  }
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(5)
})

type Told = { readonly word: 'queued' | 'piece' | 'finished' | 'removed'; readonly position: number }

/** What may be there is what was acknowledged, or the step behind it. */
function expectKept({ word, position }: Told, found: StoredResponse | undefined): void {
  if (word === 'removed') return expect(found).toBeUndefined()
  if (word === 'finished') return expect(found?.log ?? '["all"]\n').toBe('["all"]\n')
  const pieces = Array.from({ length: word === 'queued' ? 0 : position + 1 }, (_, index) => `[${index}]\n`)
  const log = ['["created"]\n', ...pieces].join('')
  const behind = [log, `${log}[${pieces.length}]\n`, '["all"]\n']
  expect(behind).toContain(found?.log ?? 'nothing')
}

/** The last that was told of each response. */
function lastOf(lines: readonly string[]): Map<string, Told> {
  return new Map(
    lines.map((line) => {
      const [word, id = '', position] = line.split(' ')
      return [id, { word: word as Told['word'], position: Number(position) }]
    }),
  )
}

async function newOrganization(file: string): Promise<string> {
  const database = openDatabase(file, silentLog)
  const { id } = await createOrganizations(
    createScriptRunner(database, new Writer(database)),
    testChange,
  ).create('acme')
  database.close()
  return id
}

/** The lines that the process told before it was killed, soon after it had told `enough` of them. */
async function acknowledgedBeforeKill(file: string, organization: string, enough: number): Promise<string[]> {
  const child = startScript('reliability/storage/support/append-forever.ts', file, organization)
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of child.stdout) {
    text += decoder.decode(bytes, { stream: true })
    if (text.split('\n', enough + 1).length > enough) child.kill('SIGKILL')
  }
  await child.exited
  // What follows the last line end was cut off by the kill.
  return text.split('\n').slice(0, -1)
}
