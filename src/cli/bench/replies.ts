/** A JSON body as an HTTP reply. */
export function jsonReply(body: unknown): Uint8Array {
  const text = JSON.stringify(body)
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n`
  return Buffer.from(head + text)
}

/** The pieces of an event stream as an HTTP reply: the first begins it, the last ends it. */
export function streamReply(frames: readonly string[]): Uint8Array[] {
  const head =
    'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n'
  return frames.map((frame, index) => {
    const chunk = `${Buffer.byteLength(frame).toString(16)}\r\n${frame}\r\n`
    return Buffer.from((index === 0 ? head : '') + chunk + (index === frames.length - 1 ? '0\r\n\r\n' : ''))
  })
}

const facts = {
  id: 'chatcmpl-9Xk2mQ7vTz',
  created: 1_790_000_000,
  model: 'river-1',
  system_fingerprint: 'fp_44709d6fcb',
}
const usage = { prompt_tokens: 48, completion_tokens: 101, total_tokens: 149 }

/** What a provider of chat completions says as a whole. */
export function chatCompletion(): object {
  const content = 'The river rose four centimetres during the night. '.repeat(6)
  const choice = {
    index: 0,
    message: { role: 'assistant', content, refusal: null },
    logprobs: null,
    finish_reason: 'stop',
  }
  return { ...facts, object: 'chat.completion', choices: [choice], usage }
}

/** The same as a stream of so many words, with the events that begin and end it. */
export function chatFrames(words: number): string[] {
  const deltas = Array.from({ length: words }, (_, index) => chatFrame({ content: ` w${index}` }))
  const counted = `data: ${JSON.stringify({ ...chunkFacts, choices: [], usage })}\n\n`
  const [first = '', ...rest] = deltas
  return [
    chatFrame({ role: 'assistant', content: '' }) + first,
    ...rest,
    `${chatFrame({}, 'stop')}${counted}data: [DONE]\n\n`,
  ]
}

const chunkFacts = { ...facts, object: 'chat.completion.chunk' }

/** One event of such a stream. */
export function chatFrame(delta: object, finish_reason: string | null = null): string {
  const choice = { index: 0, delta, logprobs: null, finish_reason }
  return `data: ${JSON.stringify({ ...chunkFacts, choices: [choice] })}\n\n`
}
