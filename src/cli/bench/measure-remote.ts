import { CommandError } from '../errors.ts'
import { requestBytes } from './connection.ts'
import { addedLatency, percentilesOf } from './statistics.ts'
import { type LoadResult, plainChat, send, streamingChat } from './load.ts'
import type { BenchResult, GatewayLatency, StepReporter } from './measure.ts'
import { sendInTurn } from './send-in-turn.ts'

const defaultDurationMs = 1000
/** Stays below the default rate limits of a gateway. */
const maxRequestsPerPart = 1000

/** The built-in model: it costs nothing, and no provider adds to its latency. */
const model = 'weir/echo'

/** Where replicas of one gateway are reached, and a key that is valid at each of them. */
export type RemoteGateway = { readonly urls: readonly string[]; readonly key: string }

/**
 * Measures a gateway that is already running; each request goes to the next one of its addresses. `GET /livez` stands for
 * a direct call.
 */
export async function measureRemote(
  { urls, key }: RemoteGateway,
  reportStep: StepReporter,
  durationMs = defaultDurationMs,
): Promise<BenchResult> {
  const bounds = { durationMs, maxRequests: maxRequestsPerPart }
  const targets = urls.map((url) => ({ url, key, model }))
  reportStep(urls.length === 1 ? 'One client …' : `One client, ${urls.length} addresses in turn …`)
  for (const target of targets)
    await expectModel(target.url, () =>
      send({ ...plainChat(target), connections: 1, durationMs, maxRequests: 1 }),
    )
  const direct = await sendInTurn(urls.map(livenessProbe), bounds)
  const plain = await sendInTurn(targets.map(plainChat), bounds)
  const streaming = await sendInTurn(targets.map(streamingChat), bounds)
  const base = percentilesOf(direct.flatMap(({ latencies }) => latencies))
  const reply = addedLatency(base, percentilesOf(plain.flatMap(({ latencies }) => latencies)))
  const first_token = addedLatency(
    base,
    percentilesOf(streaming.flatMap(({ firstTokenLatencies }) => firstTokenLatencies)),
  )
  return {
    gateway: urls.join(),
    milliseconds: { reply, first_token },
    processor_microseconds: null,
    ...(urls.length > 1 && { gateways: latencyByGateway(urls, plain, streaming) }),
  }
}

function livenessProbe(gateway: string) {
  const url = new URL('/livez', gateway)
  return { url, request: requestBytes(url, {}) }
}

function latencyByGateway(
  urls: readonly string[],
  plain: readonly LoadResult[],
  streaming: readonly LoadResult[],
): readonly GatewayLatency[] {
  return urls.map((url, index) => {
    const latencies = plain[index]?.latencies ?? []
    const firstTokenLatencies = streaming[index]?.firstTokenLatencies ?? []
    return {
      gateway: url,
      requests: latencies.length + firstTokenLatencies.length,
      milliseconds: { reply: percentilesOf(latencies), first_token: percentilesOf(firstTokenLatencies) },
    }
  })
}

async function expectModel(url: string, attempt: () => Promise<unknown>): Promise<void> {
  try {
    await attempt()
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error)
    const advice = `It must serve ${model}. Enable the provider echo in its settings.`
    throw new CommandError(`${url} cannot be measured. ${cause} ${advice}`)
  }
}
