import { createScriptRunner } from '../../../../src/storage/sqlite/script-runner.ts'
import { openDatabase } from '../../../../src/storage/sqlite/connection/database.ts'
import { createManagedStores } from '../../../../src/storage/scripts/managed-stores.ts'
import { Writer } from '../../../../src/storage/sqlite/writer.ts'
import { testActor } from '../../../support/actor.ts'

// Revokes a key in a separate process, as the command of an operator does.
const [file = '', id = ''] = process.argv.slice(2)
const database = openDatabase(file)
await createManagedStores(createScriptRunner(database, new Writer(database)), testActor).keys.revoke(id)
