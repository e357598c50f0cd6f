import { createGatewayProcess, type GatewayProcess } from '../../money/support/gateway-process.ts'
import { waitUntil } from '../../../support/billing-database.ts'
import { pricing } from '../../../support/billing-scenario.ts'
import { firstKey } from '../../../support/app.ts'
import { readPieces } from '../../../support/body-reader.ts'
import { openConnection } from '../../../support/connection.ts'
import { chatRequest } from '../../../support/scenario.ts'
import { randomFrom } from '../../../unit/providers/protocols/support/random.ts'
import { memoryOf } from './gateway-memory.ts'
import { type ProtocolFixture, protocolFixtures } from './protocol-fixtures.ts'

/** The state of the gateway after this many streams whose clients disconnected. */
export type Dropped = {
  readonly cycles: number
  /** In MiB: after the first tenth of them, at times between, and at the end. */
  readonly memory: readonly number[]
  /** Open calls: upstream, and in the database. */
  readonly open: readonly [upstream: number, reserved: number]
  /** How many usage rows there are of each status. */
  readonly statuses: Readonly<Record<number, number>>
}

const [fixture] = protocolFixtures as readonly [ProtocolFixture]
const clients = 30
const headers = { authorization: `Bearer ${firstKey}`, 'content-type': 'application/json' }

/** Connects, streams and disconnects this many times, and samples the memory `samples` times in between. */
export async function dropStreams(cycles: number, seed: string, samples = 1): Promise<Dropped> {
  const provider = startProvider()
  await using gateway = await createGatewayProcess(provider.url, pricing)
  await gateway.start()
  await gateway.books.fund('default', '1000000')
  // From the start on it pays from its balance.
  await gateway.kill()
  await gateway.start()
  const draw = randomFrom(seed)
  const memory: number[] = []
  let requested = 0
  const dropUntil = async (count: number) => {
    const client = async () => {
      while (requested++ < count) await dropOne(gateway, draw)
    }
    await Promise.all(Array.from({ length: clients }, client))
    requested = count
    memory.push(await settledMemory(gateway, provider.open))
  }
  await dropUntil(cycles / 10)
  for (let sample = 1; sample <= samples; sample++) await dropUntil((cycles * sample) / samples)
  const { books: billing } = gateway
  await billing.expectConsistent()
  const statuses: Record<number, number> = {}
  for (const { status } of await billing.usage()) statuses[status] = (statuses[status] ?? 0) + 1
  const reserved = (await billing.account())[1] + (await billing.openReservations())
  await provider.stop()
  return { cycles: requested, memory, open: [provider.open(), reserved], statuses }
}

/** The least of some samples, once nothing is open any more: garbage comes and goes. */
async function settledMemory({ books: billing, pid }: GatewayProcess, open: () => number): Promise<number> {
  await waitUntil(
    async () => open() === 0 && (await billing.openReservations()) === 0,
    'the end of every call',
  )
  const samples: number[] = []
  for (let sample = 0; sample < 5; sample++) {
    samples.push(await memoryOf(pid()))
    await Bun.sleep(100)
  }
  return Math.round(Math.min(...samples))
}

/** A stream whose client disconnects before the first byte, after the first words, or later. */
async function dropOne(gateway: GatewayProcess, draw: () => number): Promise<void> {
  const [path, body] = requestFrom(draw)
  if (draw() < 0.3 && path.includes('chat')) return dropConnection(gateway, body, draw)
  const aborting = new AbortController()
  const early = draw() < 0.2
  if (early) setTimeout(() => aborting.abort(), draw() * 4)
  try {
    const { signal } = aborting
    const sent = { method: 'POST', headers, body: JSON.stringify(body), signal }
    const reader = readPieces(await fetch(gateway.url() + path, sent))
    await reader.until('It is ')
    if (draw() < 0.5) await reader.next()
    if (draw() < 0.5) await reader.leave()
  } catch (error) {
    if (!early) throw error
  } finally {
    aborting.abort()
  }
}

async function dropConnection(gateway: GatewayProcess, body: object, draw: () => number): Promise<void> {
  const connection = await openConnection(gateway.url())
  connection.post(body)
  if (draw() < 0.8) await connection.until('It is ')
  connection.reset()
}

function requestFrom(draw: () => number): readonly [path: string, body: object] {
  const { model, messages } = chatRequest
  if (draw() < 0.4) return ['/v1/responses', { model, input: messages, stream: true, store: draw() < 0.5 }]
  return ['/v1/chat/completions', { ...chatRequest, stream: true, store: draw() < 0.3 }]
}

/** A provider that streams until the connection is closed. */
function startProvider() {
  const open = new Set<object>()
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      await request.text()
      const call = {}
      let timer: Timer | undefined
      const body = new ReadableStream<string>({
        start(controller) {
          open.add(call)
          controller.enqueue(fixture.firstFrames.join(''))
          timer = setInterval(() => controller.enqueue(fixture.text('and so on ')), 10)
        },
        cancel() {
          clearInterval(timer)
          open.delete(call)
        },
      })
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    },
  })
  return { url: `${server.url.href}v1`, open: () => open.size, stop: () => server.stop(true) }
}
