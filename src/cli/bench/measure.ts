import {
  type AddedLatency,
  addedLatency,
  type ChatTarget,
  type Load,
  type LoadResult,
  type Percentiles,
  percentilesOf,
  plainChat,
  send,
  sendInTurn,
  streamingChat,
} from './load.ts'
import { type BenchGateway, streamLength } from './gateway.ts'
import { processorTime, readProcessUsage } from './processor-time.ts'
import { CommandError } from '../errors.ts'
import { requestBytes } from './connection.ts'

/** The result of `weir bench`, as `--json` prints it. */
export type BenchResult = {
  readonly gateway: string
  readonly milliseconds: { readonly reply: AddedLatency; readonly first_token: AddedLatency }
  /** Processor time of the gateway; null where the operating system does not report it. */
  readonly processor_microseconds: { readonly request: number; readonly chunk: number } | null
  /** By address, if there are several. */
  readonly gateways?: readonly GatewayLatency[]
}

/** The latency at one of several addresses. */
export type GatewayLatency = {
  readonly gateway: string
  readonly requests: number
  readonly milliseconds: { readonly reply: Percentiles; readonly first_token: Percentiles }
}

/** Receives a line for each step of a measurement. */
export type StepReporter = (line: string) => void

const defaultDurationMs = 1000
const callers = 16
const streams = 50

/** Measures a gateway that was started for this benchmark, and its scripted provider without it. */
export async function measure(
  gateway: BenchGateway,
  reportStep: StepReporter,
  durationMs = defaultDurationMs,
): Promise<BenchResult> {
  reportStep('Warming up …')
  await send({
    ...plainChat(gatewayTarget(gateway, 'plain')),
    connections: callers,
    durationMs: 2 * durationMs,
  })
  await send({ ...streamingChat(gatewayTarget(gateway, 'burst')), connections: callers, durationMs })
  reportStep('One client …')
  const milliseconds = await measureSingleCaller(gateway, durationMs)
  reportStep(`${callers} concurrent clients …`)
  const request = await processorTimePerUnit(gateway.pid, 1, {
    ...plainChat(gatewayTarget(gateway, 'plain')),
    connections: callers,
    durationMs: 2 * durationMs,
  })
  reportStep(`${streams} streams …`)
  const chunk = await processorTimePerUnit(gateway.pid, streamLength, {
    ...streamingChat(gatewayTarget(gateway, 'paced')),
    connections: streams,
    durationMs,
  })
  const measured = request !== null && chunk !== null
  return { gateway: 'its own', milliseconds, processor_microseconds: measured ? { request, chunk } : null }
}

function gatewayTarget({ url, key }: BenchGateway, model: string): ChatTarget {
  return { url, key, model: `bench/${model}` }
}

async function measureSingleCaller(
  gateway: BenchGateway,
  durationMs: number,
): Promise<BenchResult['milliseconds']> {
  const singleCaller = { connections: 1, durationMs }
  const direct = (model: string) => ({ ...gatewayTarget(gateway, model), url: gateway.upstream })
  const [plain, plainDirect] = [
    await send({ ...plainChat(gatewayTarget(gateway, 'plain')), ...singleCaller }),
    await send({ ...plainChat(direct('plain')), ...singleCaller }),
  ]
  const [burst, burstDirect] = [
    await send({ ...streamingChat(gatewayTarget(gateway, 'burst')), ...singleCaller }),
    await send({ ...streamingChat(direct('burst')), ...singleCaller }),
  ]
  return {
    reply: addedLatency(percentilesOf(plainDirect.latencies), percentilesOf(plain.latencies)),
    first_token: addedLatency(
      percentilesOf(burstDirect.firstTokenLatencies),
      percentilesOf(burst.firstTokenLatencies),
    ),
  }
}

/** Returns the processor time per request or chunk, in microseconds; null where it is not known. */
async function processorTimePerUnit(pid: number, units: number, load: Load): Promise<number | null> {
  const before = readProcessUsage(pid)
  const { latencies } = await send(load)
  const after = readProcessUsage(pid)
  return before && after ? processorTime(before, after) / (latencies.length * units) : null
}

/** Stays below the default rate limits of a gateway. */
const maxRequestsPerPart = 1000

/** The built-in model: it costs nothing, and no provider adds to its latency. */
const model = 'weir/echo'

/** Where replicas of one gateway are reached, and a key that is valid at each of them. */
type RemoteGateway = { readonly urls: readonly string[]; readonly key: string }

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
