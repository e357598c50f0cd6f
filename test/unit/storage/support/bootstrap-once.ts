import { createScriptRunner } from '../../../../src/storage/sqlite/script-runner.ts'
import { bootstrap } from '../../../../src/storage/scripts/known-keys.ts'
import { openDatabase } from '../../../../src/storage/sqlite/connection/database.ts'
import { Writer } from '../../../../src/storage/sqlite/writer.ts'
import { testActor } from '../../../support/actor.ts'

// Starts as a server does, and prints the first key if it was this process that made it.
const [file = ''] = process.argv.slice(2)
const database = openDatabase(file)
// The others may have the lock for longer than a server would wait: a busy machine gives them no processor time.
const writer = new Writer(database, { lockTimeoutMs: 60_000 })
const first = await createScriptRunner(database, writer).transact(() =>
  bootstrap({ actor: testActor, admin: true }, Date.now()),
)
process.stdout.write(first.apiKey?.key.reveal() ?? '')
