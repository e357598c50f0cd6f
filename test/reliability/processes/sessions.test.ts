import { expect, test } from 'bun:test'
import { firstKey } from '../../support/app.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { chatRequest, providerKey } from '../../support/scenario.ts'
import { createUpstream } from '../../support/upstream.ts'
import { prepareGateways } from './support/processes.ts'
import { testSharedDatabases } from './support/shared-database.ts'

type Gateway = { readonly url: string }

/** The route of a turn of the session, which has no message in common with the others. */
async function routeOfTurn({ url }: Gateway, session: number): Promise<string | null> {
  const reply = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${firstKey}`,
      'content-type': 'application/json',
      'x-session-id': `session-${session}`,
    },
    body: JSON.stringify({ ...chatRequest, messages: [{ role: 'user', content: crypto.randomUUID() }] }),
    keepalive: false,
  })
  expect(reply.status).toBe(200)
  return reply.headers.get('x-weir-route')
}

testSharedDatabases((create) => {
  test('three servers send the turns of a session to the same route, and sessions to all routes', async () => {
    await using upstream = await createUpstream(jsonReply())
    const provider = { kind: 'openai-compatible', api_key: providerKey, base_url: upstream.url }
    const routes = [
      { provider: 'acme', model: 'river-1', weight: 1 },
      { provider: 'other', model: 'river-2', weight: 1 },
    ]
    const { start, spawn } = await prepareGateways(await create(), jsonReply(), {
      providers: { acme: provider, other: provider },
      models: [{ slug: 'acme/river', routes }],
    })
    const servers: readonly Gateway[] = [await start(), await start(), await spawn()]
    const seen = new Set<string | null>()
    // The id of the organization is random: with fifty sessions, one route has them all once in 10^14 runs.
    for (let session = 0; session < 50; session++) {
      const [first, ...others] = await Promise.all(servers.map((server) => routeOfTurn(server, session)))
      seen.add(first ?? null)
      expect(others).toEqual([first ?? null, first ?? null])
    }
    expect(seen).toEqual(new Set(['acme/river-1', 'other/river-2']))
  })
})
