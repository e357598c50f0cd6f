import { chatCompletion, chatFrame, chatFrames } from './scripted-upstream.ts'

/** The reply of a provider in its own format; frames are complete server-sent events, one per chunk. */
export type Dialect = {
  whole(): object
  frames(chunks: number): string[]
  /** A stream that ends with a tool call in this many fragments. */
  tools(chunks: number): string[]
}

/** By the path of a request; undefined for a path without a model. */
export function dialectOf(path: string): Dialect | undefined {
  if (path.endsWith('/chat/completions')) return chat
  if (path.endsWith('/messages')) return anthropic
  if (path.includes(':generateContent') || path.includes(':streamGenerateContent')) return gemini
  if (path.endsWith('/models')) return { ...chat, whole: models }
  return undefined
}

const text = 'The river rose four centimetres during the night. '.repeat(6)

function models(): object {
  return {
    object: 'list',
    data: [{ id: 'river-1', object: 'model', created: 1_790_000_000, owned_by: 'bench' }],
  }
}

const chat: Dialect = { whole: chatCompletion, frames: chatFrames, tools: chatTools }

function chatTools(chunks: number): string[] {
  const call = (fields: object) => chatFrame({ tool_calls: [{ index: 0, ...fields }] })
  const first = call({
    id: 'call_hZ81kd02',
    type: 'function',
    function: { name: 'measure', arguments: '{"places":[' },
  })
  const fragments = Array.from({ length: chunks }, (_, index) =>
    call({ function: { arguments: `"p${index}",` } }),
  )
  const last = call({ function: { arguments: '"end"]}' } })
  return [first, ...fragments, `${last}${chatFrame({}, 'tool_calls')}data: [DONE]\n\n`]
}

const anthropicMessage = {
  id: 'msg_01Qk',
  type: 'message',
  role: 'assistant',
  model: 'brook-1',
  stop_sequence: null,
}

const anthropic: Dialect = {
  whole: () => ({
    ...anthropicMessage,
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 48, output_tokens: 101 },
  }),
  frames(chunks) {
    const usage = { input_tokens: 48, output_tokens: 1 }
    const delta = (text: string) => ({ index: 0, delta: { type: 'text_delta', text } })
    const deltas = Array.from({ length: chunks }, (_, index) =>
      event('content_block_delta', delta(` w${index}`)),
    )
    const [first = '', ...rest] = deltas
    const opening = [
      event('message_start', { message: { ...anthropicMessage, content: [], stop_reason: null, usage } }),
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ]
    const closing = [
      event('content_block_stop', { index: 0 }),
      event('message_delta', {
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: chunks },
      }),
      event('message_stop', {}),
    ]
    return [opening.join('') + first, ...rest, closing.join('')]
  },
  tools: (chunks) => anthropic.frames(chunks),
}

function event(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
}

const gemini: Dialect = {
  whole: () => geminiAnswer(text, 'STOP'),
  frames(chunks) {
    const frame = (text: string, finish?: string) =>
      `data: ${JSON.stringify(geminiAnswer(text, finish))}\r\n\r\n`
    return [...Array.from({ length: chunks }, (_, index) => frame(` w${index}`)), frame('.', 'STOP')]
  },
  tools: (chunks) => gemini.frames(chunks),
}

function geminiAnswer(text: string, finishReason?: string): object {
  const content = { parts: [{ text }], role: 'model' }
  return {
    candidates: [{ content, index: 0, ...(finishReason && { finishReason }) }],
    usageMetadata: { promptTokenCount: 48, candidatesTokenCount: 101, totalTokenCount: 149 },
    modelVersion: 'spring-1',
    responseId: 'aB3dE',
  }
}
