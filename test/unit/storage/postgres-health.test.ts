import { describe, expect, test } from 'bun:test'
import { probeTrustMs } from '../../../src/storage/common/shared-probe.ts'
import { createReadiness } from '../../../src/storage/postgres/health.ts'
import { createMigratedDatabase } from '../../support/postgres/migrated-database.ts'
import { openTestDatabase } from '../../support/postgres/open-database.ts'
import { startProxy } from '../../support/postgres/proxy.ts'
import { hasPostgres, sharedPostgres } from '../../support/postgres/server.ts'

async function open() {
  const url = await createMigratedDatabase()
  const proxy = await startProxy((await sharedPostgres()).port)
  const { close, health } = await openTestDatabase(proxy.through(url))
  const dispose = async () => {
    await close()
    proxy[Symbol.dispose]()
  }
  return { proxy, health, readiness: createReadiness(health), [Symbol.asyncDispose]: dispose }
}

describe.skipIf(!hasPostgres)('the readiness of a PostgreSQL database', () => {
  test('is probed again after a failure, although a probe succeeded a moment ago', async () => {
    await using opened = await open()
    const { proxy, health, readiness } = opened
    const succeeded = readiness.probe()
    await succeeded
    proxy[Symbol.dispose]()
    await expect(health.probe()).rejects.toMatchObject({ status: 503 })
    const failed = readiness.probe()
    expect(failed).not.toBe(succeeded)
    await expect(failed).rejects.toMatchObject({ status: 503 })
  })

  test('is probed once for all clients that ask while the database does not answer', async () => {
    await using opened = await open()
    const { proxy, readiness } = opened
    await readiness.probe()
    proxy.delay(4 * probeTrustMs)
    await Bun.sleep(probeTrustMs + 1)
    const slow = readiness.probe()
    // The result of a probe is reused for this time after its end, not after its start.
    await Bun.sleep(2 * probeTrustMs)
    expect(readiness.probe()).toBe(slow)
    await slow
    expect(readiness.probe()).toBe(slow)
  })
})
