import { expect } from 'bun:test'
import { waitUntil } from '../../../support/billing-database.ts'
import { maxPromptCost } from '../../../support/billing-scenario.ts'
import { chatOutput, completionOf } from '../../../support/chat-fixtures.ts'
import { chatRequest } from '../../../support/scenario.ts'
import { startReceiver, type WebhookReceiver } from '../../../support/webhook-receiver.ts'
import { randomFrom } from '../../../unit/providers/protocols/support/random.ts'
import { askAnywhere } from './replica-load.ts'
import { type Replicas, startReplicas } from './replicas.ts'

export type CrossingOptions = {
  readonly seed: string
  /** The requests that a budget covers. */
  readonly requests: number
  /** How many of the servers are killed one after the other, while the budget is spent. */
  readonly kills: number
}

const maxTokens = 5
/** Each request costs what it reserves, in nano-dollars, so that a budget can be spent to the last bit. */
const cost = maxPromptCost + maxTokens * 10_000
const clients = 24
/** For a part of the load, on a busy machine. */
const loadTimeoutMs = 600_000

/**
 * Spends the budget of a key and most of that of its organization with three servers on one database, some of which are
 * killed. Throws unless each threshold is one event, which is received under one id.
 */
export async function crossThresholds({ seed, requests, kills }: CrossingOptions) {
  const draw = randomFrom(seed)
  using provider = startProvider(draw)
  // The first delivery is rejected, and repeated with the same id.
  await using receiver = startReceiver([() => new Response(null, { status: 500 })])
  await using replicas = await startReplicas(3, provider.url, { webhooks: [receiver.settings] })
  const { books } = replicas
  await books.fund('acme', '1000')
  const limit = requests * cost
  await books.organizations.change('acme', { budget: BigInt(Math.floor(limit * 1.2)) })
  const key = await books.keys.create({
    organization: 'acme',
    name: 'of acme',
    expiresAt: null,
    budget: BigInt(limit),
  })
  const ask = askAnywhere(replicas, key.key.reveal(), draw)
  const load = { accepted: 0, full: false }
  const sending = Array.from({ length: clients }, () => sendUntilFull(ask, load))
  for (let kill = 1; kill <= kills; kill++) {
    // The first one hits the moment in which half of the budget is spent.
    const due = Math.floor(requests * (kill === 1 ? 0.5 : 0.5 + (0.4 * kill) / kills))
    await waitUntil(() => load.accepted >= due || load.full, `${due} requests`, loadTimeoutMs)
    await replicas.replaceOne(draw)
  }
  await Promise.all(sending)
  await spendTheRest(replicas, ask, { id: key.record.id, limit })
  await expectOnce(replicas, receiver, key.record.id)
  return { accepted: load.accepted, attempts: receiver.received.length }
}

function startProvider(draw: () => number) {
  const usage = { prompt_tokens: maxPromptCost / 1000, completion_tokens: maxTokens, total_tokens: 0 }
  const body = completionOf(chatOutput({}, { usage }))
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch() {
      await Bun.sleep(draw() * 20)
      return Response.json(body)
    },
  })
  return { url: `http://127.0.0.1:${server.port}/v1`, [Symbol.dispose]: () => void server.stop(true) }
}

type Ask = ReturnType<typeof askAnywhere>

function send(ask: Ask): Promise<number> {
  const sent = ask('/v1/chat/completions', 'POST', { ...chatRequest, max_tokens: maxTokens })
  return sent.then(
    async (reply) => {
      await reply.text()
      return reply.status
    },
    // The connection broke with its gateway.
    () => 0,
  )
}

async function sendUntilFull(ask: Ask, load: { accepted: number; full: boolean }): Promise<void> {
  while (!load.full) {
    const status = await send(ask)
    if (status === 200) load.accepted++
    else if (status === 402) load.full = true
    else await Bun.sleep(20)
  }
}

/** What the killed servers held is spent, too, and then the budget is set so that one more request spends all of it. */
async function spendTheRest(
  { books }: Replicas,
  ask: Ask,
  { id, limit }: { readonly id: string; readonly limit: number },
): Promise<void> {
  await waitUntil(async () => (await books.openReservations()) === 0, 'nothing is open')
  await books.values('UPDATE budgets SET held = 0')
  await waitUntil(async () => (await send(ask)) === 402, 'what was held is spent')
  await waitUntil(async () => (await books.openReservations()) === 0, 'nothing is open')
  const [[spent] = []] = await books.values(`SELECT spent FROM budgets WHERE owner_id = '${id}'`)
  // A higher budget would have the event of 100 % once more.
  if (Number(spent) >= limit) return
  await books.keys.change(id, { budget: BigInt(Number(spent) + cost) })
  await waitUntil(async () => (await send(ask)) === 200, 'the last request')
  await waitUntil(async () => (await books.openReservations()) === 0, 'it is settled')
}

async function expectOnce({ books }: Replicas, receiver: WebhookReceiver, key: string): Promise<void> {
  const [[organization] = []] = await books.values("SELECT id FROM organizations WHERE name = 'acme'")
  const expected = [
    ...[50, 80].map((percent) => `${organization} ${percent}`),
    ...[50, 80, 100].map((percent) => `${key} ${percent}`),
  ].toSorted()
  const written = await books.values('SELECT id FROM webhook_events')
  expect(written).toHaveLength(expected.length)
  const isDelivered = async () => (await books.count("webhook_deliveries WHERE status = 'delivered'")) === 5
  await waitUntil(isDelivered, 'all events are delivered')
  const byId = Map.groupBy(receiver.received, ({ event }) => event.id)
  expect([...byId.keys()].toSorted()).toEqual(written.map(([id]) => String(id)).toSorted())
  const events = [...byId.values()].map((attempts) => {
    // Each attempt has the same body.
    expect(new Set(attempts.map(({ body }) => body)).size).toBe(1)
    const { owner, threshold_percent: percent } = (attempts[0]?.event.data ?? {}) as {
      readonly owner?: { readonly id: string }
      readonly threshold_percent?: number
    }
    return `${owner?.id} ${percent}`
  })
  expect(events.toSorted()).toEqual(expected)
}
