import { expect, test } from 'bun:test'
import { readPieces } from '../../support/body-reader.ts'
import { chunks, delta, streamReply } from '../../support/chat-fixtures.ts'
import { chatRequest } from '../../support/scenario.ts'
import { hang } from '../../support/script.ts'
import { createUpstream } from '../../support/upstream.ts'
import { createGatewayProcess, type GatewayProcess } from './support/gateway-process.ts'
import { maxCost, pricing, promptCost, replyCost } from '../../support/billing-scenario.ts'

const finished = 20
const cut = 100
const start = 1e9

/** A paid stream, and the id of its request. */
async function ask({ url }: GatewayProcess, key: string) {
  const response = await fetch(`${url()}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...chatRequest, stream: true, tags: ['cut'] }),
  })
  return { id: response.headers.get('x-request-id') ?? '', response }
}

test('a kill in the middle of 100 paid streams leaves a consistent ledger, and each is charged its prompt', async () => {
  await using upstream = await createUpstream(streamReply())
  await using gateway = await createGatewayProcess(upstream.url, pricing)
  const { books: billing } = gateway
  await billing.fund('acme', '1')
  const key = await billing.keyOf('acme')
  await gateway.start()
  const complete = await Promise.all(Array.from({ length: finished }, () => ask(gateway, key)))
  for (const { response } of complete) expect(await response.text()).toEndWith('[DONE]\n\n')

  upstream.respondWith(chunks([delta({ role: 'assistant', content: 'It is ' })], hang))
  const streams = await Promise.all(Array.from({ length: cut }, () => ask(gateway, key)))
  const readers = streams.map(({ response }) => readPieces(response))
  await Promise.all(readers.map((reader) => reader.until('It is ')))
  expect(await billing.account('acme')).toEqual([start - finished * replyCost, cut * maxCost])
  await gateway.kill()
  for (const reader of readers) expect(await reader.rest().catch(() => 'broken')).not.toContain('[DONE]')
  expect(await billing.openReservations()).toBe(cut)
  await billing.expectConsistent()

  await gateway.start()
  await billing.expectConsistent()
  expect(await billing.openReservations()).toBe(0)
  expect(await billing.account('acme')).toEqual([start - finished * replyCost - cut * promptCost, 0])
  expect(await billing.usage()).toHaveLength(finished + cut)
  for (const { id } of streams) {
    expect(await billing.usageOf(id)).toMatchObject({
      status: 0,
      error: 'interrupted',
      cost: promptCost,
      prompt_tokens: 8,
      completion_tokens: 0,
      estimated: 1,
      tags: '["cut"]',
    })
    expect(await billing.entriesOf(id)).toEqual({ charge: -promptCost })
  }
  for (const { id } of complete)
    expect(await billing.usageOf(id)).toMatchObject({ status: 200, cost: replyCost })
})

test('a second stop signal aborts the open streams, and they are charged their output so far', async () => {
  await using upstream = await createUpstream(chunks([delta({ content: 'eight ch' })], hang))
  await using gateway = await createGatewayProcess(upstream.url, pricing)
  const { books: billing } = gateway
  await billing.fund('acme', '1')
  const key = await billing.keyOf('acme')
  await gateway.start()
  const streams = await Promise.all(Array.from({ length: 10 }, () => ask(gateway, key)))
  const readers = streams.map(({ response }) => readPieces(response))
  await Promise.all(readers.map((reader) => reader.until('eight ch')))
  // The second one at once is the first one again.
  const stopped = Promise.all([gateway.stop(), gateway.stop()])
  await Bun.sleep(500)
  expect(await billing.usage()).toEqual([])
  void gateway.stop()
  expect(await stopped).toEqual([0, 0])
  expect((await billing.usage()).map(({ status, cost }) => [status, cost])).toEqual(
    streams.map(() => [503, promptCost + 2 * 10_000]),
  )
  for (const reader of readers) {
    const rest = await reader.rest()
    expect(rest).toContain('"code":"interrupted"')
    expect(rest).not.toContain('[DONE]')
  }
  expect(await billing.account('acme')).toEqual([start - 10 * (promptCost + 2 * 10_000), 0])
  await billing.expectConsistent()
})
