import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MessageObject } from '../../src/api/messages/reply-schema.ts'
import { type Fields, fieldsOf, listOf } from '../../src/lib/json/json.ts'
import type { App, RequestOptions } from './app.ts'
import { type Scenario, type ScenarioOptions, startScenario } from './scenario.ts'
import { events, json, type Script } from './script.ts'

/** A minimal request for a message. */
export const messageRequest = {
  model: 'acme/river',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'How high is it?' }],
}

/** Sends a request to the Messages API. */
export function sendMessage(app: App, body: object = messageRequest, options: RequestOptions = {}) {
  return app.request('/v1/messages', { body, ...options })
}

/** A block of a reply. */
export type Block = Fields & { readonly type: string }

/** A message as a client reads it. */
export type ReadMessage = Omit<MessageObject, 'content'> & { readonly content: readonly Block[] }

/** Reads a complete message; throws where the reply is an error. */
export async function readMessage(response: Response): Promise<ReadMessage> {
  const body = await response.json()
  if (response.status !== 200) throw new Error(`Status ${response.status}: ${JSON.stringify(body)}`)
  return body as ReadMessage
}

/** An event of a streamed message. */
export type StreamedEvent = Fields & { readonly type: string }

/** Parses the frames of a stream; throws where one is malformed, or named other than its data. */
export function parseFrames(text: string): StreamedEvent[] {
  const frames = text.split('\n\n')
  if (frames.pop() !== '') throw new Error(`The last frame is not ended: ${text.slice(-200)}`)
  return frames.map((frame) => {
    const [, name, data = ''] = /^event: (\w+)\ndata: ([^\n]+)$/.exec(frame) ?? []
    const event = JSON.parse(data || 'null')
    if (name === undefined || event?.type !== name) throw new Error(`This is not a frame: ${frame}`)
    return event
  })
}

/** Reads a stream to its end. */
export async function readEvents(response: Response): Promise<StreamedEvent[]> {
  return parseFrames(await response.text())
}

/** Folds a complete stream as the documentation says; throws where its events are not in the documented order. */
export function foldEvents(all: readonly StreamedEvent[]): ReadMessage {
  const [start, ...rest] = all.filter(({ type }) => type !== 'ping')
  if (start?.type !== 'message_start') throw new Error('The first event is not message_start.')
  const message = structuredClone(fieldsOf(start.message)) as Record<string, unknown>
  const content: Record<string, unknown>[] = []
  let json: string | undefined
  let open = false
  for (const event of rest) {
    const index = event.index
    if (event.type === 'content_block_start') {
      if (open || index !== content.length) throw new Error(`Block ${index} begins out of order.`)
      open = true
      json = undefined
      content.push({ ...fieldsOf(event.content_block) })
      continue
    }
    const block = content.at(-1)
    if (event.type === 'content_block_delta' || event.type === 'content_block_stop') {
      if (!open || !block || index !== content.length - 1) throw new Error(`Block ${index} is not open.`)
      if (event.type === 'content_block_delta') json = addDelta(block, fieldsOf(event.delta), json)
      else {
        open = false
        if (json !== undefined) block.input = JSON.parse(json || '{}')
      }
    } else if (event.type === 'message_delta') {
      if (open) throw new Error('A block is still open at message_delta.')
      Object.assign(message, event.delta, { usage: event.usage })
      if (event.warnings) message.warnings = [...listOf(message.warnings), ...listOf(event.warnings)]
    }
  }
  if (all.at(-1)?.type !== 'message_stop') throw new Error('The last event is not message_stop.')
  return { ...message, content } as unknown as ReadMessage
}

function addDelta(
  block: Record<string, unknown>,
  delta: Fields,
  json: string | undefined,
): string | undefined {
  switch (delta.type) {
    case 'text_delta':
      block.text = `${block.text}${delta.text}`
      return json
    case 'thinking_delta':
      block.thinking = `${block.thinking}${delta.thinking}`
      return json
    case 'signature_delta':
      block.signature = delta.signature
      return json
    case 'citations_delta':
      block.citations = [...listOf(block.citations), delta.citation]
      return json
    case 'input_json_delta':
      return `${json ?? ''}${delta.partial_json}`
    default:
      throw new Error(`Unknown delta ${delta.type}.`)
  }
}

/** A gateway whose provider `acme` speaks Anthropic's protocol. */
export function startAnthropicScenario(
  scripts: Script | readonly Script[],
  options: ScenarioOptions = {},
): Promise<Scenario> {
  return startScenario(scripts, { ...options, provider: { kind: 'anthropic', ...options.provider } })
}

/** A recorded reply, streamed or not, of a provider of this protocol. */
export function fixtureReply(protocol: string, name: string, stream: boolean): Script {
  const file = join(import.meta.dir, '..', 'fixtures', protocol, `${name}.${stream ? 'sse' : 'json'}`)
  const text = readFileSync(file, 'utf8')
  return stream ? events([text]) : json(text)
}

/** A message of Anthropic's with these blocks. */
export function anthropicReply(content: readonly Block[], changes: Fields = {}): Script {
  return json({
    id: 'msg_upstream',
    type: 'message',
    role: 'assistant',
    model: 'claude-upstream',
    content,
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 12, output_tokens: 5 },
    ...changes,
  })
}

/** The same message as a stream, with each block in one delta of its kind. */
export function anthropicStream(content: readonly Block[], changes: Fields = {}): Script {
  const { stop_reason = 'end_turn', stop_sequence = null, container, usage, ...head } = changes
  const counts = { input_tokens: 12, output_tokens: 1, ...fieldsOf(usage) }
  const message = {
    id: 'msg_upstream',
    type: 'message',
    role: 'assistant',
    model: 'claude-upstream',
    content: [],
  }
  const all: StreamedEvent[] = [
    { type: 'message_start', message: { ...message, ...head, stop_reason: null, usage: counts } },
    ...content.flatMap(blockEvents),
    {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence, container },
      usage: { ...counts, output_tokens: fieldsOf(usage).output_tokens ?? 5 },
    },
    { type: 'message_stop' },
  ]
  return events(all.map(anthropicFrame))
}

/** A frame of a stream of Anthropic's. */
export function anthropicFrame(event: StreamedEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}

function blockEvents(block: Block, index: number): StreamedEvent[] {
  const { empty, deltas } = piecesOf(block)
  return [
    { type: 'content_block_start', index, content_block: empty },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}

function piecesOf(block: Block): { readonly empty: Fields; readonly deltas: readonly Fields[] } {
  switch (block.type) {
    case 'text': {
      const citations = listOf(block.citations).map((citation) => ({ type: 'citations_delta', citation }))
      return {
        empty: { type: 'text', text: '', ...(Array.isArray(block.citations) && { citations: [] }) },
        deltas: [...citations, { type: 'text_delta', text: block.text }],
      }
    }
    case 'thinking':
      return {
        empty: { type: 'thinking', thinking: '', signature: '' },
        deltas: [
          { type: 'thinking_delta', thinking: block.thinking },
          { type: 'signature_delta', signature: block.signature },
        ],
      }
    case 'tool_use':
    case 'server_tool_use':
      return {
        empty: { ...block, input: {} },
        deltas: [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }],
      }
    default:
      return { empty: block, deltas: [] }
  }
}
