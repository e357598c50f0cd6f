import { describe, expect, test } from 'bun:test'
import { Secret } from '../../../src/lib/secret.ts'
import { withTimeout } from '../../../src/lib/time.ts'
import { callerTimeoutMs } from '../../../src/storage/ports/health.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { pricing } from '../../support/billing-scenario.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { readError } from '../../support/chat-reply.ts'
import { startProxy } from '../../support/postgres/proxy.ts'
import { execute, hasPostgres, sharedPostgres } from '../../support/postgres/server.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'

/** For a reply that comes after `callerTimeoutMs`, on a busy machine; a statement alone takes five seconds to fail. */
const deadlineMs = 2 * callerTimeoutMs

describe.skipIf(!hasPostgres)('a gateway whose PostgreSQL does not answer', () => {
  test.each([
    ['while keys are cached', 0],
    ['when keys have to be read', 1500],
    ['when the outage is known', 5000],
  ])(
    'rejects requests in time %s, calls no provider, and keeps no reservation',
    async (_, pauseMs) => {
      const server = await sharedPostgres()
      const url = await server.createDatabase()
      using proxy = await startProxy(server.port)
      const model = { pricing, max_output_tokens: 100 }
      const database = new Secret(proxy.through(url))
      await using scenario = await startScenario(jsonReply(), { database, model })
      const { app, acme } = scenario
      await execute(url, "UPDATE organizations SET billing = 'prepaid', balance = 1000000000")
      const charged = async () => {
        await (await app.chat(chatRequest)).text()
        return (await execute(url, "SELECT FROM ledger WHERE kind = 'charge'")).length > 0
      }
      await waitUntil(charged, 'a request that is charged')
      const sent = acme.requests.length

      // From here on, nothing that the server sends arrives.
      proxy.delay(3_600_000)
      await Bun.sleep(pauseMs)
      const late = () => new Error(`There was no reply within ${deadlineMs} ms.`)
      const replies = await Promise.all(
        Array.from({ length: 5 }, () => withTimeout(app.chat(chatRequest), deadlineMs, late)),
      )
      for (const reply of replies) {
        expect(reply.headers.get('retry-after')).toBe('1')
        expect(await readError(reply)).toMatchObject({ status: 503, code: 'service_unavailable' })
      }
      expect(acme.requests).toHaveLength(sent)

      proxy.delay(0)
      proxy.cut()
      await waitUntil(async () => (await app.chat(chatRequest)).ok, 'a request that succeeds again', 20_000)
      const released = async () =>
        (await execute<{ reserved: string }>(url, 'SELECT reserved FROM organizations'))[0]?.reserved === '0'
      await waitUntil(released, 'no reservation', 20_000)
      const rows = await execute<{ cost: string }>(
        url,
        'SELECT cost FROM usage WHERE status = 503 AND cost > 0',
      )
      expect(rows).toEqual([])
    },
    60_000,
  )
})
