import { describe, expect, onTestFinished, test } from 'bun:test'
import { Secret } from '../../../src/lib/secret.ts'
import { openDatabase } from '../../../src/storage/postgres/connection/database.ts'
import { bootstrap } from '../../../src/storage/scripts/keys.ts'
import { createScriptRunner } from '../../../src/storage/postgres/run-script.ts'
import { createOrganizations } from '../../../src/storage/postgres/organizations/organizations.ts'
import { firstKey } from '../../support/app.ts'
import { maxCost, pricing, replyCost } from '../../support/billing-scenario.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { chunks, chatOutput, framesOf } from '../../support/chat-fixtures.ts'
import { execute, hasPostgres, sharedPostgres } from '../../support/postgres/server.ts'
import { chatRequest } from '../../support/scenario.ts'
import { createUpstream } from '../../support/upstream.ts'
import { quietLog, temporaryFolder } from '../../unit/storage/support/folder.ts'
import { startWorkers } from './support/weir-workers.ts'

describe.skipIf(!hasPostgres || process.platform !== 'linux')('workers on PostgreSQL', () => {
  test('admit exactly the prepaid requests that the balance covers', async () => {
    const server = await sharedPostgres()
    const database = await server.createDatabase()
    onTestFinished(() => server.dropDatabase(database))
    // Before the workers start, so that all of them know it.
    const operator = await openDatabase(new Secret(database), quietLog)
    const organizations = createOrganizations(operator)
    await createScriptRunner(operator).transact(() => bootstrap(firstKey, Date.now()))
    await organizations.change('default', { billing: 'prepaid' })
    await organizations.credit('default', BigInt(10 * maxCost))
    await operator.close()
    const frames = framesOf(chatOutput())
    const gate = Promise.withResolvers<void>()
    await using upstream = await createUpstream(
      chunks([...frames.slice(0, 2), gate.promise, ...frames.slice(2)]),
    )
    const settings = {
      database,
      providers: { acme: { kind: 'openai-compatible', base_url: upstream.url, api_key: 'sk-provider' } },
      models: [
        {
          slug: 'acme/river',
          pricing,
          max_output_tokens: 100,
          routes: [{ provider: 'acme', model: 'river-1' }],
        },
      ],
    }
    await using weir = await startWorkers(3, { settings, folder: temporaryFolder() })
    expect(weir.workers()).toHaveLength(3)
    const replies = await Promise.all(
      Array.from({ length: 30 }, () => weir.chat({ ...chatRequest, stream: true })),
    )
    expect(replies.map(({ status }) => status).toSorted()).toEqual([
      ...Array.from({ length: 10 }, () => 200),
      ...Array.from({ length: 20 }, () => 402),
    ])
    gate.resolve()
    await Promise.all(replies.map((reply) => reply.text()))
    const left = async () => {
      const [row] = await execute<Record<string, string>>(
        database,
        'SELECT balance, reserved FROM organizations',
      )
      return [Number(row?.balance), Number(row?.reserved)]
    }
    await waitUntil(async () => (await left())[1] === 0, 'all requests are settled')
    expect(await left()).toEqual([10 * (maxCost - replyCost), 0])
    weir.signal('SIGTERM')
    expect(await weir.exited).toBe(0)
  })
})
