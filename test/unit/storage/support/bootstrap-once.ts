import { createScriptRunner } from '../../../../src/storage/sqlite/script-runner.ts'
import { bootstrap } from '../../../../src/storage/scripts/known-keys.ts'
import { openDatabase } from '../../../../src/storage/sqlite/connection/database.ts'
import { createWriter } from '../../../../src/storage/sqlite/writer.ts'
import { testActor } from '../../../support/actor.ts'

// Starts as a server does, and prints the first key if it was this process that made it.
const [file = ''] = process.argv.slice(2)
const database = openDatabase(file)
const first = await createScriptRunner(database, createWriter(database)).transact(() =>
  bootstrap({ actor: testActor, admin: true }, Date.now()),
)
process.stdout.write(first.apiKey?.key.reveal() ?? '')
