import { insertCompletion } from '../../src/storage/sqlite/completion-search.ts'
import { openCompletions, organizations, seeded } from './stored-completions.ts'

/** `bun test/bench/seed-completions.ts FILE COUNT`: fills a database with stored completions. */
const [file, count] = [process.argv[2], Number(process.argv[3])]
if (file === undefined || !Number.isInteger(count)) throw new Error('Which file, and how many completions?')

const perTransaction = 5000

const { sqlite, database, close } = openCompletions(file)
// What is seeded can be seeded again.
sqlite.run('PRAGMA synchronous = OFF')
for (const id of organizations) {
  sqlite.prepare('INSERT OR IGNORE INTO organizations (id, name, created_at) VALUES (?1, ?1, 0)').run(id)
}
const start = performance.now()
for (let first = 0; first < count; first += perTransaction) {
  const last = Math.min(count, first + perTransaction)
  sqlite.transaction(() => {
    for (let number = first; number < last; number++) database.run(insertCompletion(seeded(number)))
  })()
  if (last % 100_000 === 0 || last === count) {
    console.log(`${last} completions, ${((performance.now() - start) / 1000).toFixed(1)} s`)
  }
}
close()
