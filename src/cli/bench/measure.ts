import {
  type AddedLatency,
  addedLatency,
  type Call,
  type ChatTarget,
  type Load,
  type LoadResult,
  type Percentiles,
  percentilesOf,
  plainChat,
  send,
  streamingChat,
} from './load.ts'
import { type BenchGateway, streamLength } from './gateway.ts'
import { processorTime, readProcessUsage } from './processor-time.ts'
import { causeOf } from '../../lib/log.ts'
import { platformFailure } from '../../lib/platform-failure.ts'
import { CommandError } from '../errors.ts'

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

/** Measures a gateway that was started for this benchmark, and its simulated provider without it. */
export async function measure(
  gateway: BenchGateway,
  reportStep: StepReporter,
  durationMs = defaultDurationMs,
): Promise<BenchResult> {
  const [plain, burst, paced] = [
    plainChat(gatewayTarget(gateway, 'plain')),
    streamingChat(gatewayTarget(gateway, 'burst')),
    streamingChat(gatewayTarget(gateway, 'paced')),
  ]
  reportStep('Warming up …')
  await send({ calls: [plain], callers, durationMs: 2 * durationMs })
  await send({ calls: [burst], callers, durationMs })
  reportStep('One client …')
  const milliseconds = await measureSingleCaller(gateway, durationMs)
  reportStep(`${callers} concurrent clients …`)
  const request = await processorTimePerUnit(gateway.pid, 1, {
    calls: [plain],
    callers,
    durationMs: 2 * durationMs,
  })
  reportStep(`${streams} streams …`)
  const chunk = await processorTimePerUnit(gateway.pid, streamLength, {
    calls: [paced],
    callers: streams,
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
  const direct = (model: string) => ({ ...gatewayTarget(gateway, model), url: gateway.upstream })
  const timesOf = async (call: Call) => merged(await send({ calls: [call], callers: 1, durationMs }))
  const plain = await timesOf(plainChat(gatewayTarget(gateway, 'plain')))
  const plainDirect = await timesOf(plainChat(direct('plain')))
  const burst = await timesOf(streamingChat(gatewayTarget(gateway, 'burst')))
  const burstDirect = await timesOf(streamingChat(direct('burst')))
  return {
    reply: addedLatency(plainDirect.reply, plain.reply),
    first_token: addedLatency(burstDirect.first_token, burst.first_token),
  }
}

/** The percentiles of all results together. */
function merged(results: readonly LoadResult[]): GatewayLatency['milliseconds'] {
  return {
    reply: percentilesOf(results.flatMap(({ latencies }) => latencies)),
    first_token: percentilesOf(results.flatMap(({ firstTokenLatencies }) => firstTokenLatencies)),
  }
}

/** Returns the processor time per request or chunk, in microseconds; null where it is not known. */
async function processorTimePerUnit(pid: number, units: number, load: Load): Promise<number | null> {
  const before = readProcessUsage(pid)
  const [result] = await send(load)
  const after = readProcessUsage(pid)
  return before && after && result ? processorTime(before, after) / (result.latencies.length * units) : null
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
  const measureCalls = (calls: readonly Call[]) =>
    send({ calls, callers: 1, durationMs, maxRequests: maxRequestsPerPart })
  const targets = urls.map((url) => ({ url, key, model }))
  reportStep(urls.length === 1 ? 'One client …' : `One client, ${urls.length} addresses in turn …`)
  for (const target of targets) await expectModel(target)
  const direct = merged(await measureCalls(urls.map((url) => ({ url: `${url}/livez` }))))
  const plain = await measureCalls(targets.map(plainChat))
  const streaming = await measureCalls(targets.map(streamingChat))
  const reply = addedLatency(direct.reply, merged(plain).reply)
  const first_token = addedLatency(direct.reply, merged(streaming).first_token)
  return {
    gateway: urls.join(),
    milliseconds: { reply, first_token },
    processor_microseconds: null,
    ...(urls.length > 1 && { gateways: latencyByGateway(urls, plain, streaming) }),
  }
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

async function expectModel(target: ChatTarget): Promise<void> {
  try {
    await send({ calls: [plainChat(target)], callers: 1, durationMs: 0 })
  } catch (error) {
    const failure = platformFailure(error)
    const cause = failure === undefined ? causeOf(error) : `It cannot be reached: ${failure}.`
    const advice = `It must serve ${model}. Enable the provider echo in its settings.`
    throw new CommandError(`${target.url} cannot be measured. ${cause} ${advice}`)
  }
}
