import { writeSync } from 'node:fs'
import { silentLog } from '../../../../src/lib/log.ts'
import { createLedger } from '../../../../src/storage/sqlite/ledger.ts'
import { openDatabase } from '../../../../src/storage/sqlite/connection/database.ts'
import { sqliteResponses } from '../../../unit/storage/support/sqlite-responses.ts'
import { createRunStore } from '../../../../src/storage/sqlite/run-store.ts'
import { Writer } from '../../../../src/storage/sqlite/writer.ts'
import { runSteps, unfinished } from '../../../unit/storage/support/response-fixture.ts'

// Runs responses of the organization until it is killed, and prints what is acknowledged.
const [file = '', organization = ''] = process.argv.slice(2)
const database = openDatabase(file, silentLog)
const writer = new Writer(database)
const responses = sqliteResponses(database, writer)
const { start, append } = runSteps(createRunStore(database, writer))
const ledger = createLedger(database, writer)

async function runOn(pieces: number): Promise<never> {
  for (;;) {
    const response = unfinished(organization, 'queued')
    const { id } = response
    await ledger.write([{ kind: 'insert-response', response }])
    tell('queued', id)
    await start(organization, id)
    for (let position = 0; position < pieces; position++) {
      await append(organization, id, position, `[${position}]\n`)
      tell('piece', id, position)
    }
    const end = { status: 'completed', log: '["all"]\n' } as const
    await ledger.write([{ kind: 'finish-response', organization, id, end }])
    tell('finished', id)
    if (pieces % 2 === 1) continue
    await responses.remove(organization, id)
    tell('removed', id)
  }
}

/** Synchronously, so that a kill loses no line whose next step has begun. */
function tell(word: string, id: string, position = 0): void {
  writeSync(1, `${word} ${id} ${position}\n`)
}

await Promise.all(Array.from({ length: 12 }, (_, index) => runOn(index + 5)))
