import { expect, test } from 'bun:test'
import { maxCost, pricing, promptCost, replyCost } from '../../support/billing-scenario.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { readPieces } from '../../support/body-reader.ts'
import { chatOutput, chunks, delta, doneFrame, framesOf, streamReply } from '../../support/chat-fixtures.ts'
import { newPostgresDatabase } from '../../support/database-connection.ts'
import { chatRequest } from '../../support/scenario.ts'
import { hang } from '../../support/script.ts'
import { createUpstream } from '../../support/upstream.ts'
import { canRunWorkers, childrenOf } from '../operation/support/weir-workers.ts'
import { createGatewayProcess, type GatewayProcess } from './support/gateway-process.ts'

function ask({ url }: GatewayProcess, key: string): Promise<Response> {
  return fetch(`${url()}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...chatRequest, stream: true }),
  })
}

function usd(nano: number): string {
  return (nano / 1e9).toFixed(9)
}

test.if(canRunWorkers)(
  'a balance for 10 requests admits exactly 10 of 40 at once, whichever worker receives them',
  async () => {
    const frames = framesOf(chatOutput())
    const gate = Promise.withResolvers<void>()
    await using upstream = await createUpstream(
      chunks([...frames.slice(0, 2), gate.promise, ...frames.slice(2)]),
    )
    await using gateway = await createGatewayProcess(
      upstream.url,
      pricing,
      { workers: 3 },
      newPostgresDatabase,
    )
    const { books: billing } = gateway
    await billing.fund('acme', usd(10 * maxCost))
    const key = await billing.keyOf('acme')
    await gateway.start()
    const replies = await Promise.all(Array.from({ length: 40 }, () => ask(gateway, key)))
    expect(replies.filter(({ status }) => status === 402)).toHaveLength(30)
    const admitted = replies.filter(({ status }) => status === 200)
    expect(admitted).toHaveLength(10)
    expect(await billing.account('acme')).toEqual([10 * maxCost, 10 * maxCost])
    gate.resolve()
    for (const reply of admitted) expect(await reply.text()).toEndWith(doneFrame)
    await billing.waitForUsage(10)
    expect(await billing.account('acme')).toEqual([10 * (maxCost - replyCost), 0])
    await billing.expectConsistent()
    expect(await gateway.stop()).toBe(0)
  },
)

test.if(canRunWorkers)(
  'the paid requests of a worker that was killed are settled by the others, each once',
  async () => {
    await using upstream = await createUpstream(streamReply())
    await using gateway = await createGatewayProcess(
      upstream.url,
      pricing,
      { workers: 2 },
      newPostgresDatabase,
    )
    const { books: billing } = gateway
    await billing.fund('acme', '1')
    const key = await billing.keyOf('acme')
    await gateway.start()
    const complete = await Promise.all(Array.from({ length: 20 }, () => ask(gateway, key)))
    for (const reply of complete) expect(await reply.text()).toEndWith(doneFrame)

    upstream.respondWith(chunks([delta({ role: 'assistant', content: 'It is ' })], hang))
    const readers = (await Promise.all(Array.from({ length: 40 }, () => ask(gateway, key)))).map(readPieces)
    await Promise.all(readers.map((reader) => reader.until('It is ')))
    const [victim = 0] = childrenOf(gateway.pid())
    process.kill(victim, 'SIGKILL')
    const cut = readers.map(async (reader) => {
      expect(await reader.rest().catch(() => 'broken')).not.toContain(doneFrame)
    })
    // Those of a process that was evicted: of all others, the process is listed.
    const abandoned = 'reservations WHERE process_id NOT IN (SELECT id FROM processes)'
    const isSettled = async () =>
      (await billing.count('usage')) > 20 && (await billing.count(abandoned)) === 0
    await waitUntil(isSettled, 'the requests of the worker are settled')
    const settled = (await billing.count('usage')) - 20
    expect(await billing.openReservations()).toBe(40 - settled)
    expect(await billing.account('acme')).toEqual([
      1e9 - 20 * replyCost - settled * promptCost,
      (40 - settled) * maxCost,
    ])
    await billing.expectConsistent()

    upstream.respondWith(streamReply())
    expect(await (await ask(gateway, key)).text()).toEndWith(doneFrame)
    const stopping = gateway.stop()
    await Bun.sleep(400)
    void gateway.stop()
    expect(await stopping).toBe(0)
    await Promise.all(cut)
    expect(await billing.count('usage')).toBe(61)
    expect(await billing.openReservations()).toBe(0)
    await billing.expectConsistent()
  },
)
