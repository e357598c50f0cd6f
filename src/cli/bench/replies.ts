/** Returns the bytes of an HTTP response with a JSON body. */
export function jsonReply(body: unknown): Uint8Array {
  const text = JSON.stringify(body)
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n`
  return Buffer.from(head + text)
}

/** Returns the bytes of an event stream, frame by frame; the first has the head of the response, the last ends it. */
export function streamReply(frames: readonly string[]): Uint8Array[] {
  const head =
    'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n'
  return frames.map((frame, index) => {
    const chunk = `${Buffer.byteLength(frame).toString(16)}\r\n${frame}\r\n`
    return Buffer.from((index === 0 ? head : '') + chunk + (index === frames.length - 1 ? '0\r\n\r\n' : ''))
  })
}

const completionFields = {
  id: 'chatcmpl-9Xk2mQ7vTz',
  created: 1_790_000_000,
  model: 'river-1',
  system_fingerprint: 'fp_44709d6fcb',
}
const usage = { prompt_tokens: 48, completion_tokens: 101, total_tokens: 149 }

/** Returns a chat completion as a provider sends it without streaming. */
export function chatCompletion(): object {
  const content = 'The river rose four centimetres during the night. '.repeat(6)
  const choice = {
    index: 0,
    message: { role: 'assistant', content, refusal: null },
    logprobs: null,
    finish_reason: 'stop',
  }
  return { ...completionFields, object: 'chat.completion', choices: [choice], usage }
}

/** Returns a chat completion as event frames with this many content chunks. */
export function chatFrames(contentChunks: number): string[] {
  const deltas = Array.from({ length: contentChunks }, (_, index) => chatFrame({ content: ` w${index}` }))
  const usageFrame = `data: ${JSON.stringify({ ...chunkFields, choices: [], usage })}\n\n`
  const [first = '', ...rest] = deltas
  return [
    chatFrame({ role: 'assistant', content: '' }) + first,
    ...rest,
    `${chatFrame({}, 'stop')}${usageFrame}data: [DONE]\n\n`,
  ]
}

const chunkFields = { ...completionFields, object: 'chat.completion.chunk' }

/** Returns the event frame of one chunk. */
export function chatFrame(delta: object, finish_reason: string | null = null): string {
  const choice = { index: 0, delta, logprobs: null, finish_reason }
  return `data: ${JSON.stringify({ ...chunkFields, choices: [choice] })}\n\n`
}
