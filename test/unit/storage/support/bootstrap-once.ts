import { bootstrap } from '../../../../src/storage/sqlite/keys/bootstrap.ts'
import { openDatabase } from '../../../../src/storage/sqlite/connection/database.ts'
import { createWriter } from '../../../../src/storage/sqlite/writer/writer.ts'

// Starts as a server does, and prints the first key if it was this process that made it.
const [file = ''] = process.argv.slice(2)
const database = openDatabase(file)
const first = await bootstrap(database, createWriter(database))
process.stdout.write(first?.key.reveal() ?? '')
