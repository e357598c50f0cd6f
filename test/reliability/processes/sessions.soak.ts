import { describe, expect, test } from 'bun:test'
import type { SettingsFile } from '../../../src/config/settings.ts'
import { firstKey } from '../../support/app.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { providerKey } from '../../support/scenario.ts'
import { prepareGateways } from './support/processes.ts'
import { type PrefixEngine, startPrefixEngine } from './support/prefix-engine.ts'
import { type SharedDatabase, testSharedDatabases } from './support/shared-database.ts'

// A thousand conversations of twenty turns, each turn at any of three servers, over two engines that cache prompts.

const sessions = 1000
const turns = 20

/** Two engines, and three servers in processes of their own that share the sessions among them, three to one. */
async function startCluster(database: SharedDatabase, affinity: 'session' | 'none') {
  const engines = [startPrefixEngine(), startPrefixEngine()] as const
  const providerOf = ({ url }: PrefixEngine) =>
    ({ kind: 'openai-compatible', api_key: providerKey, base_url: url }) as const
  const routes = [
    { provider: 'large', model: 'river', weight: 3 },
    { provider: 'small', model: 'river', weight: 1 },
  ]
  const changes: SettingsFile = {
    limits: { requests_per_minute: 10_000_000, tokens_per_minute: 1_000_000_000, concurrent_requests: 1000 },
    providers: { large: providerOf(engines[0]), small: providerOf(engines[1]) },
    models: [{ slug: 'acme/river', routes, affinity }],
  }
  const { spawn } = await prepareGateways(database, jsonReply(), changes, {})
  const servers = [await spawn(), await spawn(), await spawn()]
  return {
    engines,
    servers: servers.map(({ url }) => url),
    async [Symbol.asyncDispose]() {
      for (const engine of engines) await engine[Symbol.asyncDispose]()
    },
  }
}

/** The route of a turn of a conversation, which is recognised by its beginning alone. */
async function sendTurn(server: string, session: number, turn: number): Promise<string> {
  const messages = [{ role: 'system', content: 'Be brief.' }]
  for (let index = 0; index <= turn; index++) {
    if (index > 0) messages.push({ role: 'assistant', content: 'It is four metres.' })
    messages.push({ role: 'user', content: `Question ${index} of conversation ${session}` })
  }
  const reply = await fetch(`${server}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${firstKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'acme/river', messages }),
  })
  const text = await reply.text()
  if (reply.status !== 200) throw new Error(`Status ${reply.status}: ${text}`)
  return reply.headers.get('x-weir-route') ?? ''
}

/** The routes of each session over these turns, which follow one another; sixteen sessions at once. */
async function converse(servers: readonly string[], count: number, from: number, to: number) {
  const routes: string[][] = Array.from({ length: count }, () => [])
  const waiting = routes.entries()
  const run = async () => {
    for (const [session, seen] of waiting)
      for (let turn = from; turn < to; turn++)
        seen.push(await sendTurn(servers[(session + turn) % servers.length] ?? '', session, turn))
  }
  await Promise.all(Array.from({ length: 16 }, run))
  return routes
}

/** The share of the prompts that the engines had cached, as the report of usage has it once all requests are in it. */
async function cachedShare(server: string, requests: number): Promise<number> {
  let share = 0
  const isComplete = async () => {
    const path = '/v1/organization/usage/completions?limit=2'
    const reply = await fetch(server + path, { headers: { authorization: `Bearer ${firstKey}` } })
    const { data } = (await reply.json()) as {
      readonly data: readonly { readonly results: readonly Sums[] }[]
    }
    const sums = data.flatMap(({ results }) => results)
    const total = (value: (sum: Sums) => number) => sums.reduce((sum, result) => sum + value(result), 0)
    share = total((sum) => sum.input_cached_tokens) / total((sum) => sum.input_tokens)
    return total((sum) => sum.num_model_requests) === requests
  }
  await waitUntil(isComplete, 'all requests are in the report', 120_000)
  return share
}

type Sums = Readonly<Record<'input_tokens' | 'input_cached_tokens' | 'num_model_requests', number>>

/** In a run without a repeated prompt, all of a prompt but the two messages that a turn adds is cached; the first turn has two. */
const maxShare = 1 - turns / ((turns * (turns + 1)) / 2)

testSharedDatabases((create) => {
  describe('conversations at three servers', () => {
    test('stay on one route each, with their prompts in its cache, and return to it after a failure', async () => {
      await using cluster = await startCluster(await create(), 'session')
      const { servers, engines } = cluster
      const routes = await converse(servers, sessions, 0, turns)
      const own = routes.map(([first]) => first ?? '')
      expect(routes.filter((seen) => new Set(seen).size > 1)).toEqual([])
      const share = own.filter((route) => route === 'large/river').length / sessions
      const cached = await cachedShare(servers[0] ?? '', sessions * turns)
      console.log(`Sessions on the route of weight 3 of 4: ${(100 * share).toFixed(1)} %`)
      console.log(`Cached with affinity: ${(100 * cached).toFixed(1)} %`)
      // Five standard deviations: the id of the organization is random.
      expect(share).toBeWithin(0.75 - 0.07, 0.75 + 0.07)
      expect(cached).toBeGreaterThan(maxShare - 0.02)
      await engines[1][Symbol.asyncDispose]()
      const during = await converse(servers, sessions, turns, turns + 2)
      expect(new Set(during.flat())).toEqual(new Set(['large/river']))
      await using restarted = startPrefixEngine(Number(new URL(engines[1].url).port))
      expect(restarted.url).toBe(engines[1].url)
      const after = await converse(servers, sessions, turns + 2, turns + 4)
      const moved = after.filter((seen, session) => own[session] === 'large/river' && new Set(seen).size > 1)
      expect(moved).toEqual([])
    })

    test('lose a part of their cached prompts without affinity', async () => {
      await using cluster = await startCluster(await create(), 'none')
      await converse(cluster.servers, 200, 0, turns)
      const cached = await cachedShare(cluster.servers[0] ?? '', 200 * turns)
      console.log(`Cached without affinity: ${(100 * cached).toFixed(1)} %`)
      expect(cached).toBeLessThan(maxShare - 0.05)
    })
  })
})
