import { silentLog } from '../../../../src/lib/log.ts'
import { openDatabase } from '../../../../src/storage/sqlite/connection/database.ts'
import { limitWalSize } from '../../../../src/storage/sqlite/connection/file-size.ts'
import { Writer } from '../../../../src/storage/sqlite/writer.ts'

// Writes rows of this size in groups until it is killed, and prints each number once its write is acknowledged.
const [file = '', size = '0'] = process.argv.slice(2)
const database = openDatabase(file)
const writer = new Writer(database, { onCommit: () => wal.committed() })
const wal = limitWalSize(database, writer, silentLog, { checkDelayMs: 1, retryAfterMs: 1 })
database.sqlite.run('CREATE TABLE IF NOT EXISTS numbers (number INTEGER PRIMARY KEY, filling TEXT)')
const insert = database.sqlite.prepare('INSERT INTO numbers VALUES (?, ?)')
const filling = 'x'.repeat(Number(size))

let next = 0
async function writeOn(): Promise<never> {
  for (;;) {
    const number = next++
    await writer.write(() => insert.run(number, filling))
    process.stdout.write(`${number}\n`)
  }
}
await Promise.all(Array.from({ length: 16 }, writeOn))
