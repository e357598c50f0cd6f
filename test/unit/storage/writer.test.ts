import { Database as Sqlite } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { ApiError } from '../../../src/lib/errors/errors.ts'
import { Writer } from '../../../src/storage/sqlite/writer.ts'
import { testDatabase, testStorage } from './support/folder.ts'

function songs({ database, writer } = testStorage()) {
  database.sqlite.run('CREATE TABLE songs (title TEXT UNIQUE)')
  const insert = database.sqlite.prepare('INSERT INTO songs VALUES (?)')
  const add = (title: string) => writer.write(() => insert.run(title).changes)
  const titles = (sqlite = database.sqlite) => sqlite.prepare('SELECT title FROM songs').values().flat()
  return { database, writer, insert, add, titles }
}

async function failure(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(ApiError)
  return error as ApiError
}

test('an acknowledged write is visible to another connection', async () => {
  const { database, add, titles } = songs()
  const other = new Sqlite(database.file, { readonly: true })
  const pending = add('one')
  expect(titles(other)).toEqual([])
  expect(await pending).toBe(1)
  expect(titles(other)).toEqual(['one'])
  other.close()
})

test('a single write is committed before the next turn of the event loop', async () => {
  const { writer, insert } = songs()
  let turned = false
  setImmediate(() => (turned = true))
  // Nothing that has to last: the disk would be waited for.
  const notLasting = () => false
  await writer.write(() => insert.run('one'), notLasting)
  expect(turned).toBe(false)
})

test('writes of one turn are one transaction, in their order', async () => {
  const { database, writer, insert, titles } = songs()
  const other = new Sqlite(database.file, { readonly: true })
  const seenBetween = await Promise.all([
    writer.write(() => insert.run('one') && titles(other)),
    writer.write(() => insert.run('two') && titles(other)),
  ])
  expect(seenBetween).toEqual([[], []])
  expect(titles(other)).toEqual(['one', 'two'])
  other.close()
})

test('work that throws rolls back only itself and rejects with its own error', async () => {
  const { writer, insert, add, titles } = songs()
  const broken = writer.write(() => {
    insert.run('half')
    throw new Error('changed my mind')
  })
  const results = await Promise.allSettled([add('one'), broken, add('one'), add('two')])
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
  expect(String(results[1]?.status === 'rejected' && results[1].reason)).toContain('changed my mind')
  expect(String(results[2]?.status === 'rejected' && results[2].reason)).toContain('UNIQUE')
  expect(titles()).toEqual(['one', 'two'])
})

test('a database that another process has locked rejects all writes with 503, and works again afterwards', async () => {
  const { database, add, titles } = songs()
  database.sqlite.run('PRAGMA busy_timeout = 0')
  const other = new Sqlite(database.file)
  other.run('BEGIN IMMEDIATE')
  const [first, second] = await Promise.all([failure(add('one')), failure(add('two'))])
  expect([first?.status, second?.status]).toEqual([503, 503])
  expect(first?.headers['retry-after']).toBe('1')
  expect(first?.message).not.toContain('SQLITE')
  other.run('ROLLBACK')
  other.close()
  await add('three')
  expect(titles()).toEqual(['three'])
})

test('a full disk rejects every write of the transaction with 503 and keeps none of them', async () => {
  const { database, add, titles } = songs()
  await add('before')
  const pages = Number(database.sqlite.prepare('PRAGMA page_count').values()[0]?.[0])
  database.sqlite.run(`PRAGMA max_page_count = ${pages + 1}`)
  const results = await Promise.all([
    failure(add('small')),
    failure(add('x'.repeat(100_000))),
    failure(add('late')),
  ])
  expect(results.map(({ status }) => status)).toEqual([503, 503, 503])
  expect(titles()).toEqual(['before'])
  database.sqlite.run(`PRAGMA max_page_count = ${pages + 1000}`)
  await add('after')
  expect(titles()).toEqual(['before', 'after'])
})

test('writes beyond the queue limit are rejected, and queued ones are kept', async () => {
  const database = testDatabase()
  const { add, titles } = songs({ database, writer: new Writer(database, { maxWaiting: 2 }) })
  const accepted = [add('one'), add('two')]
  expect((await failure(add('three'))).status).toBe(503)
  await Promise.all(accepted)
  await add('four')
  expect(titles()).toEqual(['one', 'two', 'four'])
})

test('closing commits the queued writes and rejects later ones', async () => {
  const { writer, add, titles } = songs()
  const pending = add('one')
  writer.close()
  expect(titles()).toEqual(['one'])
  expect(await pending).toBe(1)
  expect((await failure(add('two'))).status).toBe(503)
  expect(titles()).toEqual(['one'])
})

test('a write that another write schedules is executed after it', async () => {
  const { writer, add, titles } = songs()
  await writer.write(() => add('inner'))
  expect(titles()).toEqual(['inner'])
})

test('writes wait while the writer is paused, and share a transaction afterwards', async () => {
  const { writer, add, titles } = songs()
  const { promise, resolve } = Promise.withResolvers<void>()
  const before = add('before')
  const pause = writer.whilePaused(() => promise)
  const after = [add('one'), add('two')]
  await new Promise((resolve) => void setTimeout(resolve, 10))
  expect(titles()).toEqual([])
  expect(writer.stats()).toMatchObject({ waiting: 3, commits: 0 })
  resolve()
  await Promise.all([pause, before, ...after])
  expect(titles()).toEqual(['before', 'one', 'two'])
  expect(writer.stats()).toMatchObject({ waiting: 0, commits: 1 })
})

test('writes go on after a pause whose work has failed', async () => {
  const { writer, add, titles } = songs()
  const pause = writer.whilePaused(() => Promise.reject(new Error('no checkpoint')))
  const added = add('one')
  await expect(pause).rejects.toThrow('no checkpoint')
  await added
  expect(titles()).toEqual(['one'])
})

test('a writer that is closed during a pause commits what waits', async () => {
  const { writer, add, titles } = songs()
  void writer.whilePaused(() => new Promise(() => {}))
  const added = add('one')
  writer.close()
  await added
  expect(titles()).toEqual(['one'])
})

test('transactions that follow one another share a sync, and settle only after it', async () => {
  const { database } = songs()
  const insert = database.sqlite.prepare('INSERT INTO songs VALUES (?)')
  let syncs = 0
  const syncsAt = new Map<string, number>()
  const sync = (done: (failure: unknown) => void) =>
    void setImmediate(() => {
      syncs++
      done(undefined)
    })
  const writer = new Writer(database, { disk: { sync, syncNow() {}, fix() {}, close() {} } })
  const add = async (title: string) => {
    await writer.write(() => insert.run(title))
    syncsAt.set(title, syncs)
  }
  for (let round = 0; round < 20; round++) {
    await Promise.all([add(`one ${round}`), add(`two ${round}`)])
    const third = add(`three ${round}`)
    await new Promise((resolve) => setImmediate(resolve))
    await Promise.all([third, add(`four ${round}`)])
  }
  expect(syncsAt.size).toBe(80)
  expect(Math.min(...syncsAt.values())).toBe(1)
  expect(writer.stats().commits).toBeGreaterThan(syncs)
  writer.close()
})
