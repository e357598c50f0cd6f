import { afterAll, describe, expect, test } from 'bun:test'
import { createGatewayProcess } from '../money/support/gateway-process.ts'
import { pricing } from '../../support/billing-scenario.ts'
import { eventStream } from '../../../src/http/event-stream.ts'
import type { OnItem } from '../../../src/lib/push-stream.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import { events } from '../../support/script.ts'
import { createUpstream } from '../../support/upstream.ts'
import { countedFlood, floodedRequests, maxOnTheWay } from './support/counted-flood.ts'
import { openSlowClient } from './support/slow-client.ts'
import { type ProtocolFixture, protocolFixtures } from './support/protocol-fixtures.ts'

const [fixture] = protocolFixtures as readonly [ProtocolFixture]

describe('a client that reads one byte at a time', () => {
  test.each([...floodedRequests])('slows its provider down: %s', async (_, path, body) => {
    const flood = countedFlood()
    await using upstream = await createUpstream(flood.script)
    await using gateway = await createGatewayProcess(upstream.url, pricing)
    await gateway.start()
    const client = await openSlowClient(gateway.url(), path, body)
    expect(await client.take(15)).toBe('HTTP/1.1 200 OK')
    await flood.stuck()
    for (let byte = 0; byte < 5; byte++) expect(await client.take(1)).toHaveLength(1)
    await flood.stuck()
    expect(flood.sent.bytes).toBeLessThan(maxOnTheWay)
    client.leave()
    expect(await upstream.requests[0]!.aborted).toBe(true)
    const [row] = await gateway.books.waitForUsage(1)
    expect(row).toMatchObject({ status: 499, error: 'client_gone' })
  })
})

test('a client that pauses for longer than the idle timeout is not reported as a slow provider', async () => {
  const pieces = Array.from({ length: 600 }, (_, number) => fixture.text(`${number} `.padEnd(20_000, 'x')))
  await using scenario = await startScenario(
    events([...fixture.firstFrames, ...pieces, ...fixture.lastFrames]),
    {
      provider: { timeouts: { idle: '1500ms' } },
    },
  )
  const { app, acme } = scenario
  const client = await openSlowClient(app.url, '/v1/chat/completions', { ...chatRequest, stream: true })
  await acme.request(0)
  // Nothing tells that nobody has taken anything for longer than the provider may be silent.
  await Bun.sleep(2500)
  expect(await client.until('data: [DONE]\n\n')).toContain('"finish_reason":"stop"')
  expect(app.lines).toEqual([])
})

/** Says ever more, at the pace of whoever takes it. */
async function tellForEver(take: OnItem<string>): Promise<void> {
  for (;;) await take('x'.repeat(100_000))
}

describe('a client that stops reading', () => {
  const closed = Promise.withResolvers<void>()
  let received: unknown
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: () =>
      eventStream(
        {
          items: { forEach: tellForEver, close: () => closed.resolve() },
          frames: (item) => `data: ${item}\n\n`,
          end: () => 'data: [DONE]\n\n',
          failed: (error) => {
            received = error
            return 'data: broken\n\n'
          },
        },
        { stallTimeoutMs: 50 },
      ).toResponse(),
  })
  afterAll(() => server.stop(true))

  test('for that long counts as disconnected, and receives no end of the stream', async () => {
    const client = await openSlowClient(server.url.href, '/', {})
    await closed.promise
    expect(received).toMatchObject({ status: 499, code: 'client_gone' })
    expect(String(received)).toContain('The client has read nothing for a minute.')
    expect(await client.until('data: broken\n\n')).not.toContain('[DONE]')
    client.leave()
  })
})
