import { expect, test } from 'bun:test'
import { readPieces } from '../../support/body-reader.ts'
import { chunks, delta, streamed } from '../../support/chat-answers.ts'
import { question } from '../../support/scenario.ts'
import { hang } from '../../support/script.ts'
import { createUpstream } from '../../support/upstream.ts'
import { createGatewayProcess, type GatewayProcess } from './support/gateway-process.ts'
import { mostCost, pricing, promptCost, usualCost } from './support/paid.ts'

const finished = 20
const cut = 100
const start = 1e9

/** A paid stream, and the id of its request. */
async function ask({ url }: GatewayProcess, key: string) {
  const response = await fetch(`${url()}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...question, stream: true, tags: ['cut'] }),
  })
  return { id: response.headers.get('x-request-id') ?? '', response }
}

test('a kill in the middle of 100 paid streams leaves a consistent ledger, and each is charged its prompt', async () => {
  await using upstream = await createUpstream(streamed())
  await using gateway = await createGatewayProcess(upstream.url, pricing)
  const { books } = gateway
  await books.fund('acme', '1')
  const key = await books.keyOf('acme')
  await gateway.start()
  const whole = await Promise.all(Array.from({ length: finished }, () => ask(gateway, key)))
  for (const { response } of whole) expect(await response.text()).toEndWith('[DONE]\n\n')

  upstream.answer(chunks([delta({ role: 'assistant', content: 'It is ' })], hang))
  const streams = await Promise.all(Array.from({ length: cut }, () => ask(gateway, key)))
  const readers = streams.map(({ response }) => readPieces(response))
  await Promise.all(readers.map((reader) => reader.until('It is ')))
  expect(books.account('acme')).toEqual([start - finished * usualCost, cut * mostCost])
  await gateway.kill()
  for (const reader of readers) expect(await reader.rest().catch(() => 'broken')).not.toContain('[DONE]')
  expect(books.open()).toBe(cut)
  books.expectSound()

  await gateway.start()
  books.expectSound()
  expect(books.open()).toBe(0)
  expect(books.account('acme')).toEqual([start - finished * usualCost - cut * promptCost, 0])
  expect(books.rows()).toHaveLength(finished + cut)
  for (const { id } of streams) {
    expect(books.row(id)).toMatchObject({
      status: 0,
      error: 'interrupted',
      cost: promptCost,
      prompt_tokens: 8,
      completion_tokens: 0,
      estimated: 1,
      tags: '["cut"]',
    })
    expect(books.entriesOf(id)).toEqual({ charge: -promptCost })
  }
  for (const { id } of whole) expect(books.row(id)).toMatchObject({ status: 200, cost: usualCost })
})

test('a second stop signal aborts the open streams, and they are charged their output so far', async () => {
  await using upstream = await createUpstream(chunks([delta({ content: 'eight ch' })], hang))
  await using gateway = await createGatewayProcess(upstream.url, pricing)
  const { books } = gateway
  await books.fund('acme', '1')
  const key = await books.keyOf('acme')
  await gateway.start()
  const streams = await Promise.all(Array.from({ length: 10 }, () => ask(gateway, key)))
  const readers = streams.map(({ response }) => readPieces(response))
  await Promise.all(readers.map((reader) => reader.until('eight ch')))
  const toldAt = performance.now()
  // The second one at once is the first one again.
  const stopped = Promise.all([gateway.stop(), gateway.stop()])
  await Bun.sleep(500)
  expect(books.rows()).toEqual([])
  void gateway.stop()
  expect(await stopped).toEqual([0, 0])
  expect(performance.now() - toldAt).toBeLessThan(5000)
  expect(books.rows().map(({ status, cost }) => [status, cost])).toEqual(
    streams.map(() => [503, promptCost + 2 * 10_000]),
  )
  for (const reader of readers) {
    const rest = await reader.rest()
    expect(rest).toContain('"code":"interrupted"')
    expect(rest).not.toContain('[DONE]')
  }
  expect(books.account('acme')).toEqual([start - 10 * (promptCost + 2 * 10_000), 0])
  books.expectSound()
})
