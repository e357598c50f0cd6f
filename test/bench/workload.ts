import { smallBody } from './bodies.ts'
import type { LoadShape } from './job.ts'
import type { Behaviour } from './upstream.ts'

/** One kind of work that is measured. */
export type Workload = {
  readonly name: string
  /** What it is, for the table. */
  readonly title: string
  readonly unit: 'request' | 'chunk' | 'run'
  /** The path of the interface of a gateway; a request without a body is a GET. */
  readonly path: string
  readonly body?: string
  /** Where a proxy that translates nothing sends the same work: the path that the provider has. */
  readonly nativePath: string
  /** The kind of the provider, for gateways that have to know it. */
  readonly provider: 'openai' | 'anthropic' | 'google'
  readonly upstream: Behaviour
  readonly load: LoadShape
  /** What the last bytes of a valid reply contain: of a gateway, and of a proxy that translates nothing. */
  readonly ending: string
  readonly nativeEnding: string
  /** Part of the short run. */
  readonly quick: boolean
  /** Whether each contender is started again for it, because what it did before would show. */
  readonly fresh: boolean
  /** Whether a contender has no part in it: it does not support the work, or needs another provider for it. */
  readonly without: (name: string) => boolean
}

const chat = '/v1/chat/completions'
const callers = 16
const chunks = 100
const done = 'data: [DONE]'

const whole: Behaviour = { reply: 'whole', chunks: 0, interval: 0, together: 1 }

/** Chunks that are all sent at once. */
export const unpaced: Behaviour = { ...whole, reply: 'stream', chunks }

/** Requests that are counted one by one, over busy connections. */
export const requests: LoadShape = { type: 'closed', connections: callers, unitsPerRequest: 1 }

/** What most workloads have in common: complete replies to chat completions. */
export const common = {
  unit: 'request',
  path: chat,
  nativePath: chat,
  provider: 'openai',
  upstream: whole,
  load: requests,
  ending: '',
  nativeEnding: '',
  quick: false,
  fresh: false,
  without: () => false,
} as const

/** What streams have in common. */
export const streamed = {
  ...common,
  unit: 'chunk',
  body: smallBody('bench/chat', { stream: true }),
  upstream: unpaced,
  load: { type: 'closed', connections: callers, unitsPerRequest: chunks },
  ending: done,
  nativeEnding: done,
} as const

/** Short requests at a fixed rate per second. */
export function steady(rate: number, quick = false): Workload {
  return {
    ...common,
    name: `chat-${rate}`,
    title: `chat, 200 B, ${rate.toLocaleString('en-US')} in a second`,
    body: smallBody('bench/chat'),
    load: { type: 'steady', rate },
    quick,
  }
}

/** Open streams with a chunk each interval, in milliseconds. */
export function paced(streams: number, interval: number, chunks: number, quick = false): Workload {
  return {
    ...streamed,
    name: `stream-${streams}`,
    title: `${streams.toLocaleString('en-US')} ${streams === 1 ? 'stream' : 'streams'}, a chunk each ${interval} ms`,
    upstream: { reply: 'stream', chunks, interval, together: streams },
    load: { type: 'paced', streams, chunks },
    quick,
  }
}

/** The same workload with streams that last at least this many milliseconds. */
export function lasting(workload: Workload, duration: number): Workload {
  const { load, upstream } = workload
  if (load.type !== 'paced') return workload
  const chunks = Math.max(load.chunks, Math.ceil(duration / upstream.interval))
  return { ...workload, upstream: { ...upstream, chunks }, load: { ...load, chunks } }
}
