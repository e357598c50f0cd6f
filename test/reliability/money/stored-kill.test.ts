import { expect, test } from 'bun:test'
import type { ChatCompletion } from '../../../src/api/chat-completions/reply-schema.ts'
import { firstKey } from '../../support/app.ts'
import { chunks, delta, streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import { readStreamed } from '../../support/chat-reply.ts'
import { chatRequest } from '../../support/scenario.ts'
import { hang } from '../../support/script.ts'
import { createUpstream } from '../../support/upstream.ts'
import { createGatewayProcess, type GatewayProcess } from './support/gateway-process.ts'
import { pricing } from '../../support/billing-scenario.ts'

const path = '/v1/chat/completions'

function ask({ url }: GatewayProcess, rest: string, body?: object): Promise<Response> {
  return fetch(`${url()}${path}${rest}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${firstKey}`, 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  })
}

async function storeComplete(gateway: GatewayProcess, metadata: object): Promise<string> {
  const reply = await ask(gateway, '', { ...chatRequest, store: true, metadata })
  return ((await reply.json()) as ChatCompletion).id
}

async function storeStreamed(gateway: GatewayProcess, metadata: object): Promise<string> {
  const stream = await readStreamed(
    await ask(gateway, '', { ...chatRequest, store: true, metadata, stream: true }),
  )
  expect(stream.done).toBe(true)
  return stream.chunks[0]!.id
}

test('completions that were acknowledged before a kill are stored, with their metadata, and no others', async () => {
  await using upstream = await createUpstream(jsonReply())
  await using gateway = await createGatewayProcess(upstream.url, pricing)
  await gateway.start()
  const ids: string[] = []
  for (let round = 0; round < 2; round++) {
    const metadata = { round }
    upstream.respondWith(jsonReply())
    ids.push(...(await Promise.all(Array.from({ length: 20 }, () => storeComplete(gateway, metadata)))))
    upstream.respondWith(streamReply())
    ids.push(...(await Promise.all(Array.from({ length: 20 }, () => storeStreamed(gateway, metadata)))))
    upstream.respondWith(chunks([delta({ role: 'assistant', content: 'It is ' })], hang))
    const cut = await ask(gateway, '', { ...chatRequest, store: true, metadata, stream: true })
    const last = await storeUpdated(gateway, upstream, metadata)
    ids.push(last)
    await gateway.kill()
    await cut.text().catch(() => 'broken')
    await gateway.start()
    expect(await (await ask(gateway, `/${last}`)).json()).toMatchObject({
      metadata: { ...metadata, last: 'yes' },
    })
    for (const id of ids) expect((await ask(gateway, `/${id}`)).status).toBe(200)
    const found = (await (await ask(gateway, `?metadata[round]=${round}&limit=100`)).json()) as {
      data: unknown[]
    }
    expect(found.data).toHaveLength(41)
  }
  expect(await gateway.books.values('SELECT count(*) FROM completions')).toEqual([[ids.length]])
  await gateway.books.expectConsistent()
}, 120_000)

/** One whose metadata was changed just now. */
async function storeUpdated(
  gateway: GatewayProcess,
  upstream: Awaited<ReturnType<typeof createUpstream>>,
  metadata: object,
): Promise<string> {
  upstream.respondWith(jsonReply())
  const id = await storeComplete(gateway, {})
  const reply = await ask(gateway, `/${id}`, { metadata: { ...metadata, last: 'yes' } })
  expect(reply.status).toBe(200)
  return id
}
