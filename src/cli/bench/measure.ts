import { type Percentiles, percentilesOf, type AddedLatency, addedLatency } from './statistics.ts'
import { type BenchGateway, streamLength } from './gateway.ts'
import { type Load, type ChatTarget, send, streamingChat, plainChat } from './load.ts'
import { processorTime, readProcessUsage } from './processor-time.ts'

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
