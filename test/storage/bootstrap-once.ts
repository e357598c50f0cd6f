import { bootstrap } from '../../src/storage/bootstrap.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { createWriter } from '../../src/storage/writer.ts'

// Starts as a server does, and prints the first key if it was this process that made it.
const [file = ''] = process.argv.slice(2)
const database = openDatabase(file)
const first = await bootstrap(database, createWriter(database))
process.stdout.write(first?.key.reveal() ?? '')
