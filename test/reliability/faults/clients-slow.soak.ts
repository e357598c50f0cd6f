import { expect, test } from 'bun:test'
import { pricing } from '../../support/billing-scenario.ts'
import { createUpstream } from '../../support/upstream.ts'
import { createGatewayProcess } from '../money/support/gateway-process.ts'
import { countedFlood, floodedRequests } from './support/counted-flood.ts'
import { memoryOf } from './support/gateway-memory.ts'
import { openSlowClient } from './support/slow-client.ts'

/** In MiB. */
const maxGrowth = 100

test.each([...floodedRequests])(
  'a client that reads one byte at a time costs no memory: %s',
  async (name, path, body) => {
    const flood = countedFlood()
    await using upstream = await createUpstream(flood.script)
    await using gateway = await createGatewayProcess(upstream.url, pricing)
    await gateway.start()
    const before = await memoryOf(gateway.pid())
    const client = await openSlowClient(gateway.url(), path, body)
    expect(await client.take(15)).toBe('HTTP/1.1 200 OK')
    await flood.stuck()
    for (let byte = 0; byte < 5; byte++) expect(await client.take(1)).toHaveLength(1)
    await flood.stuck()
    const growth = (await memoryOf(gateway.pid())) - before
    console.log(`${name}: ${growth.toFixed(0)} MiB more`)
    if (!Number.isNaN(growth)) expect(growth).toBeLessThan(maxGrowth)
    client.leave()
  },
)
