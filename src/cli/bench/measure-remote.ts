import { CommandError } from '../errors.ts'
import { requestBytes } from './connection.ts'
import { percentilesOf, addedLatency } from './statistics.ts'
import { send, streamingChat, plainChat } from './load.ts'
import type { BenchResult, StepReporter } from './measure.ts'

const defaultDurationMs = 1000
/** Stays below the default rate limits of a gateway. */
const maxRequestsPerPart = 1000

/** The built-in model: it costs nothing, and no provider adds to its latency. */
const model = 'weir/echo'

/** Measures a gateway that is already running; `GET /livez` stands for a direct call. */
export async function measureRemote(
  gateway: { readonly url: string; readonly key: string },
  reportStep: StepReporter,
  durationMs = defaultDurationMs,
): Promise<BenchResult> {
  const target = { ...gateway, model }
  const singleCaller = { connections: 1, durationMs, maxRequests: maxRequestsPerPart }
  const probe = new URL('/livez', gateway.url)
  reportStep('One client …')
  await expectModel(gateway.url, () => send({ ...plainChat(target), ...singleCaller, maxRequests: 1 }))
  const direct = await send({ url: probe, request: requestBytes(probe, {}), ...singleCaller })
  const plain = await send({ ...plainChat(target), ...singleCaller })
  const streaming = await send({ ...streamingChat(target), ...singleCaller })
  const base = percentilesOf(direct.latencies)
  const reply = addedLatency(base, percentilesOf(plain.latencies))
  const first_token = addedLatency(base, percentilesOf(streaming.firstTokenLatencies))
  return { gateway: gateway.url, milliseconds: { reply, first_token }, processor_microseconds: null }
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
