import { expect, onTestFinished, test } from 'bun:test'
import { fdatasync, fdatasyncSync, statSync, writeSync } from 'node:fs'
import type { ApiError } from '../../../src/lib/errors/errors.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { openDisk, type SystemCalls } from '../../../src/storage/sqlite/connection/disk.ts'
import { createHealth } from '../../../src/storage/sqlite/health.ts'
import { Writer } from '../../../src/storage/sqlite/writer.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { testDatabase } from './support/folder.ts'

/** A disk whose syncs fail while `broken`, as they do once each for a page that the kernel has given up. */
function breakableDisk(file: string) {
  const fault = { broken: false, syncs: 0, failures: 0, written: 0, gate: Promise.resolve() }
  const failure = () => {
    fault.syncs++
    if (!fault.broken) return undefined
    fault.failures++
    return Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' })
  }
  const failLater = async (error: Error, done: (error: Error) => void) => {
    await fault.gate
    done(error)
  }
  const calls = {
    fdatasync(descriptor: number, done: (error: Error | null) => void) {
      const error = failure()
      if (error) void failLater(error, done)
      else fdatasync(descriptor, done)
    },
    fdatasyncSync(descriptor: number) {
      const error = failure()
      if (error) throw error
      fdatasyncSync(descriptor)
    },
    writeSync(...args: Parameters<typeof writeSync>) {
      const bytes = writeSync(...args)
      fault.written += bytes
      return bytes
    },
  }
  return { fault, disk: openDisk(file, calls as SystemCalls) }
}

function songs() {
  const database = testDatabase()
  database.sqlite.run('CREATE TABLE songs (title TEXT)')
  const { fault, disk } = breakableDisk(database.file)
  const health = createHealth(database, silentLog, disk)
  const writer = new Writer(database, { health, disk })
  onTestFinished(() => {
    health.close()
    writer.close()
  })
  const insert = database.sqlite.prepare('INSERT INTO songs VALUES (?)')
  const add = (title: string) => writer.write(() => void insert.run(title))
  return { database, fault, health, disk, add }
}

const statusOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 200,
    (error: ApiError) => error.status,
  )

test('after a failed sync no write is acknowledged until the log was written and synced once more', async () => {
  const { database, fault, health, add } = songs()
  await add('before')
  fault.broken = true
  const lost = statusOf(add('lost'))
  await waitUntil(() => fault.failures > 0, 'a failed sync')
  expect([await lost, await statusOf(add('late'))]).toEqual([503, 503])
  await waitUntil(() => fault.failures > 3, 'attempts to repair the log')
  expect(health.unavailableError()?.status).toBe(503)
  expect(await statusOf(add('later'))).toBe(503)

  fault.broken = false
  fault.written = 0
  const size = statSync(`${database.file}-wal`).size
  await waitUntil(() => health.unavailableError() === undefined, 'a recovery')
  expect(fault.written).toBeGreaterThanOrEqual(size)
  await add('after')
  expect(database.sqlite.query('SELECT title FROM songs').values().flat()).toContain('after')
})

test('a sync that would succeed does not, where an earlier one has failed', async () => {
  const { fault, disk, add } = songs()
  await add('before')
  const sync = () => new Promise((resolve) => disk.sync(resolve))
  fault.broken = true
  expect(await sync()).toBeInstanceOf(Error)
  fault.broken = false
  const { syncs } = fault
  expect(await sync()).toBeInstanceOf(Error)
  expect(() => disk.syncNow()).toThrow('EIO')
  expect(fault.syncs).toBe(syncs)
  disk.fix()
  expect(await sync()).toBeUndefined()
})

test('writes that wait for a sync that fails are not committed', async () => {
  const { database, fault, add } = songs()
  await add('before')
  fault.broken = true
  const gate = Promise.withResolvers<void>()
  fault.gate = gate.promise
  const first = statusOf(add('first'))
  await waitUntil(() => fault.failures > 0, 'the sync')
  const second = statusOf(add('second'))
  gate.resolve()
  expect(await Promise.all([first, second])).toEqual([503, 503])
  expect(database.sqlite.query('SELECT title FROM songs').values().flat()).not.toContain('second')
})
