import { openDatabase } from '../../../../src/storage/sqlite/connection/database.ts'
import { createWriter } from '../../../../src/storage/sqlite/writer/writer.ts'

// Writes in groups until it is killed, and prints each number once its write is acknowledged.
const [file = ''] = process.argv.slice(2)
const database = openDatabase(file)
const writer = createWriter(database)
database.sqlite.run('CREATE TABLE IF NOT EXISTS numbers (number INTEGER PRIMARY KEY)')
const insert = database.sqlite.prepare('INSERT INTO numbers VALUES (?)')

let next = 0
async function writeOn(): Promise<never> {
  for (;;) {
    const number = next++
    await writer.write(() => insert.run(number))
    process.stdout.write(`${number}\n`)
  }
}
await Promise.all(Array.from({ length: 16 }, writeOn))
