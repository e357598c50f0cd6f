import { type Place, streamedChat, wholeChat } from './chat.ts'
import { percentilesOf, type Times, timesOf } from './figures.ts'
import { type OwnGateway, streamLength } from './gateway.ts'
import { type Load, send } from './load.ts'
import { processorTime, usedBy } from './process.ts'

/** What `weir bench` tells, as `--json` prints it. */
export type BenchFigures = {
  readonly gateway: string
  readonly milliseconds: { readonly reply: Times; readonly first_token: Times }
  /** Of the gateway's process; null where it cannot be seen. */
  readonly processor_microseconds: { readonly request: number; readonly chunk: number } | null
}

export type Say = (line: string) => void

/** Milliseconds of each part of a measurement. */
const usualDuration = 1000
const callers = 16
const streams = 50

/** Measures a gateway that was started for it, beside its provider. */
export async function measure(
  gateway: OwnGateway,
  say: Say,
  duration = usualDuration,
): Promise<BenchFigures> {
  say('Warming up …')
  await send({ ...wholeChat(through(gateway, 'whole')), connections: callers, duration: 2 * duration })
  await send({ ...streamedChat(through(gateway, 'burst')), connections: callers, duration })
  say('One caller …')
  const milliseconds = await timesOfOne(gateway, duration)
  say(`${callers} callers …`)
  const request = await costOf(gateway.pid, 1, {
    ...wholeChat(through(gateway, 'whole')),
    connections: callers,
    duration: 2 * duration,
  })
  say(`${streams} streams …`)
  const chunk = await costOf(gateway.pid, streamLength, {
    ...streamedChat(through(gateway, 'paced')),
    connections: streams,
    duration,
  })
  const told = request !== null && chunk !== null
  return { gateway: 'its own', milliseconds, processor_microseconds: told ? { request, chunk } : null }
}

function through({ url, key }: OwnGateway, model: string): Place {
  return { url, key, model: `bench/${model}` }
}

async function timesOfOne(gateway: OwnGateway, duration: number): Promise<BenchFigures['milliseconds']> {
  const alone = { connections: 1, duration }
  const direct = (model: string) => ({ ...through(gateway, model), url: gateway.upstream })
  const [whole, wholeDirect] = [
    await send({ ...wholeChat(through(gateway, 'whole')), ...alone }),
    await send({ ...wholeChat(direct('whole')), ...alone }),
  ]
  const [burst, burstDirect] = [
    await send({ ...streamedChat(through(gateway, 'burst')), ...alone }),
    await send({ ...streamedChat(direct('burst')), ...alone }),
  ]
  return {
    reply: timesOf(percentilesOf(wholeDirect.latencies), percentilesOf(whole.latencies)),
    first_token: timesOf(percentilesOf(burstDirect.firsts), percentilesOf(burst.firsts)),
  }
}

/** Processor time of the process for each unit of a request; null where the system does not tell it. */
async function costOf(pid: number, units: number, load: Load): Promise<number | null> {
  const before = usedBy(pid)
  const { latencies } = await send(load)
  const after = usedBy(pid)
  return before && after ? processorTime(before, after) / (latencies.length * units) : null
}
