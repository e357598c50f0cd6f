import { largeBody, mediumBody, responsesBody, smallBody, toolsBody } from './bodies.ts'
import { common, paced, requests, steady, streamed, unpaced, type Workload } from './workload.ts'

const isOneOf =
  (...names: readonly string[]) =>
  (name: string) =>
    names.includes(name)
const isDirect = isOneOf('direct')
/** Gateways that pass the request on to the same API of the provider, which the upstream does not have. */
const translatesNoResponses = isOneOf('portkey', 'gomodel')
const storesNoResponses = isOneOf('portkey', 'gomodel', 'busbar')
/** The provider of GoModel is the one that speaks the OpenAI API. */
const hasOneProvider = isOneOf('gomodel')
const allButWeir = (name: string) => !name.startsWith('weir')

const anthropic = {
  provider: 'anthropic',
  nativePath: '/v1/messages',
  nativeEnding: '',
  without: hasOneProvider,
} as const
const gemini = {
  provider: 'google',
  nativePath: '/v1beta/models/spring-1:generateContent',
  nativeEnding: '',
  without: hasOneProvider,
} as const

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
  steady(100),
  steady(300, true),
  steady(1000),
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
  {
    ...streamed,
    name: 'stream-50',
    title: 'streams of 50 chunks, unpaced',
    upstream: { ...unpaced, chunks: 50 },
    load: { ...streamed.load, unitsPerRequest: 50 },
  },
  paced(1, 20, 100),
  paced(100, 20, 100, true),
  paced(300, 20, 100),
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
    without: translatesNoResponses,
    title: 'response, 200 B, not stored',
    path: '/v1/responses',
    body: responsesBody('bench/chat', { store: false }),
  },
  {
    ...common,
    name: 'response-stored',
    without: storesNoResponses,
    title: 'response, 200 B, stored',
    path: '/v1/responses',
    body: responsesBody('bench/chat', { store: true }),
  },
  {
    ...streamed,
    name: 'response-stream',
    without: translatesNoResponses,
    title: 'response streams, unpaced, not stored',
    path: '/v1/responses',
    body: responsesBody('bench/chat', { store: false, stream: true }),
    ending: '"usage":{"input_tokens"',
  },
  {
    ...streamed,
    name: 'response-stream-stored',
    without: storesNoResponses,
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
  {
    ...common,
    name: 'memory-requests',
    title: 'chat, 200 B, the first 100,000 requests',
    body: smallBody('bench/chat'),
    load: { type: 'counted', connections: 16, requests: 100_000 },
    fresh: true,
    without: isDirect,
  },
  {
    ...paced(5000, 1000, 10),
    name: 'memory-streams',
    title: '5,000 streams, each second, the first ones',
    fresh: true,
    without: isDirect,
  },
]
