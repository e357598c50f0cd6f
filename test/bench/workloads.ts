import { largeBody, mediumBody, responsesBody, smallBody, toolsBody } from './bodies.ts'
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
  /** Who has no part in it: proxies that know no such thing, or need a provider that speaks it. */
  readonly without: (name: string) => boolean
}

const chat = '/v1/chat/completions'
const callers = 16
const chunks = 100
const done = 'data: [DONE]'

const whole: Behaviour = { reply: 'whole', chunks: 0, interval: 0, together: 1 }
const unpaced: Behaviour = { ...whole, reply: 'stream', chunks }
const requests: LoadShape = { type: 'closed', connections: callers, unitsPerRequest: 1 }
const fastStreams: LoadShape = { type: 'closed', connections: callers, unitsPerRequest: chunks }

const common = {
  unit: 'request',
  path: chat,
  nativePath: chat,
  provider: 'openai',
  upstream: whole,
  load: requests,
  ending: '',
  nativeEnding: '',
  quick: false,
  without: () => false,
} as const

const streamed = {
  ...common,
  unit: 'chunk',
  body: smallBody('bench/chat', { stream: true }),
  upstream: unpaced,
  load: fastStreams,
  ending: done,
  nativeEnding: done,
} as const

const anthropic = {
  provider: 'anthropic',
  nativePath: '/v1/messages',
  nativeEnding: '',
} as const
const gemini = {
  provider: 'google',
  nativePath: '/v1beta/models/spring-1:generateContent',
  nativeEnding: '',
} as const

const isPortkey = (name: string) => name === 'portkey'
const allButWeir = (name: string) => !name.startsWith('weir')

/** Paced concurrent streams. */
function paced(streams: number, interval: number, chunks: number, quick = false): Workload {
  return {
    ...streamed,
    name: `stream-${streams}`,
    title: `${streams.toLocaleString('en-US')} ${streams === 1 ? 'stream' : 'streams'}, a chunk each ${interval} ms`,
    upstream: { reply: 'stream', chunks, interval, together: streams },
    load: { type: 'paced', streams, chunks },
    quick,
  }
}

/** All that is measured, in this order. */
export const workloads: readonly Workload[] = [
  { ...common, name: 'chat-small', title: 'chat, 200 B', body: smallBody('bench/chat'), quick: true },
  {
    ...common,
    name: 'chat-medium',
    title: 'chat, 20 messages, 6 kB',
    body: mediumBody('bench/chat'),
    quick: true,
  },
  {
    ...common,
    name: 'chat-steady',
    title: 'chat, 200 B, 500 in a second',
    body: smallBody('bench/chat'),
    load: { type: 'steady', rate: 500 },
    quick: true,
  },
  { ...common, name: 'chat-large', title: 'chat, 1 MB with images', body: largeBody('bench/chat') },
  {
    // What the first token takes: of a hundred that come at once, the first would wait for the others.
    ...streamed,
    name: 'stream-short',
    title: 'stream of 3 chunks',
    unit: 'request',
    upstream: { ...unpaced, chunks: 3 },
    load: requests,
    quick: true,
  },
  { ...streamed, name: 'stream-unpaced', title: 'streams of 100 chunks, unpaced', quick: true },
  paced(1, 20, 100),
  paced(100, 20, 100, true),
  paced(500, 20, 100),
  paced(2000, 200, 30),
  paced(5000, 1000, 10),
  {
    ...streamed,
    name: 'tools-stream',
    title: 'stream of a tool call, 100 fragments',
    body: toolsBody('bench/chat'),
    upstream: { ...unpaced, reply: 'tools' },
  },
  {
    ...common,
    ...anthropic,
    name: 'anthropic-small',
    title: 'chat to Anthropic, 200 B',
    body: smallBody('bench/anthropic', { max_tokens: 400 }),
  },
  {
    ...streamed,
    ...anthropic,
    name: 'anthropic-stream',
    title: 'streams from Anthropic, unpaced',
    body: smallBody('bench/anthropic', { stream: true, max_tokens: 400 }),
  },
  {
    ...common,
    ...gemini,
    name: 'gemini-small',
    title: 'chat to Gemini, 200 B',
    body: smallBody('bench/gemini'),
  },
  {
    ...streamed,
    ...gemini,
    nativePath: '/v1beta/models/spring-1:streamGenerateContent?alt=sse',
    name: 'gemini-stream',
    title: 'streams from Gemini, unpaced',
    body: smallBody('bench/gemini', { stream: true }),
  },
  {
    ...common,
    name: 'chat-stored',
    title: 'chat, 200 B, stored',
    body: smallBody('bench/chat', { store: true, metadata: { job: 'bench' } }),
  },
  {
    ...common,
    name: 'response-small',
    without: isPortkey,
    title: 'response, 200 B, not stored',
    path: '/v1/responses',
    body: responsesBody('bench/chat', { store: false }),
  },
  {
    ...common,
    name: 'response-stored',
    without: isPortkey,
    title: 'response, 200 B, stored',
    path: '/v1/responses',
    body: responsesBody('bench/chat', { store: true }),
  },
  {
    ...streamed,
    name: 'response-stream',
    without: isPortkey,
    title: 'response streams, unpaced, not stored',
    path: '/v1/responses',
    body: responsesBody('bench/chat', { store: false, stream: true }),
    ending: '"usage":{"input_tokens"',
  },
  {
    ...streamed,
    name: 'response-stream-stored',
    without: isPortkey,
    title: 'response streams, unpaced, stored',
    path: '/v1/responses',
    body: responsesBody('bench/chat', { store: true, stream: true }),
    ending: '"usage":{"input_tokens"',
  },
  {
    ...streamed,
    name: 'background',
    title: 'background runs, followed',
    unit: 'run',
    path: '/v1/responses',
    body: responsesBody('bench/chat', { background: true, stream: true }),
    load: requests,
    ending: '"usage":{"input_tokens"',
    without: allButWeir,
  },
  {
    ...common,
    name: 'models',
    title: 'list of models',
    path: '/v1/models',
    nativePath: '/v1/models',
    without: allButWeir,
  },
]
