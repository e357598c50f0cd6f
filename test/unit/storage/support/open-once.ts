import { openDatabase } from '../../../../src/storage/sqlite/connection/database.ts'

// Opens the database many times, so that openings of several processes meet.
const [file = ''] = process.argv.slice(2)
for (let round = 0; round < 20; round++) openDatabase(round === 0 ? file : `${file}.${round}`).close()
