import { openDatabase } from '../../src/storage/database.ts'
import { createKeys } from '../../src/storage/keys.ts'
import { createWriter } from '../../src/storage/writer.ts'

// Revokes a key as an operator's command does, from a process of its own.
const [file = '', id = ''] = process.argv.slice(2)
const database = openDatabase(file)
await createKeys(database, createWriter(database)).revoke(id)
