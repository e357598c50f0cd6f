/** A complete response of a provider, and the same one as the data of its stream. */
export type Bodies = { readonly complete: object; readonly stream: readonly object[] }

/** A message of Anthropic; a stream reports the counts of its start and its end separately. */
export function message(begin: object, end: object): Bodies {
  const text = { type: 'text', text: 'It rises.' }
  const stop = { stop_reason: 'end_turn', stop_sequence: null }
  return {
    complete: { type: 'message', role: 'assistant', content: [text], ...stop, usage: { ...begin, ...end } },
    stream: [
      { type: 'message_start', message: { content: [], usage: begin } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: text.text } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: stop, usage: end },
      { type: 'message_stop' },
    ],
  }
}

/** A chat completion; its stream ends with these chunks. */
export function completion(usage: object, ...lastChunks: readonly object[]): Bodies {
  const output = { role: 'assistant', content: 'It rises.' }
  return {
    complete: {
      object: 'chat.completion',
      choices: [{ index: 0, message: output, finish_reason: 'stop' }],
      usage,
    },
    stream: [{ choices: [{ index: 0, delta: output, finish_reason: null }], usage: null }, ...lastChunks],
  }
}

/** The chunk that ends the choice. */
export function finishChunk(rest: object = {}): object {
  return { choices: [{ index: 0, delta: { content: '' }, finish_reason: 'stop' }], ...rest }
}

/** A chat completion whose stream has the usage in a separate chunk. */
export function completionWithFinalUsage(usage: object): Bodies {
  return completion(usage, finishChunk(), { choices: [], usage })
}

/** A chat completion whose stream has the usage in the chunk with the finish reason. */
export function completionWithUsageAtFinish(usage: object): Bodies {
  return completion(usage, finishChunk({ usage }))
}

/** A response of the Responses API. */
export function response(usage: object): Bodies {
  const content = [{ type: 'output_text', text: 'It rises.' }]
  const complete = {
    object: 'response',
    status: 'completed',
    output: [{ type: 'message', role: 'assistant', content }],
    usage,
  }
  return {
    complete,
    stream: [
      { type: 'response.created', response: { status: 'in_progress', output: [], usage: null } },
      { type: 'response.output_text.delta', delta: 'It rises.' },
      { type: 'response.completed', response: complete },
    ],
  }
}

/** A response of Gemini, whose stream has the usage so far in every chunk. */
export function candidate(begin: object, end: object): Bodies {
  const piece = (text: string) => ({ content: { role: 'model', parts: [{ text }] }, index: 0 })
  return {
    complete: { candidates: [{ ...piece('It rises.'), finishReason: 'STOP' }], usageMetadata: end },
    stream: [
      { candidates: [piece('It ')], usageMetadata: begin },
      { candidates: [{ ...piece('rises.'), finishReason: 'STOP' }], usageMetadata: end },
    ],
  }
}
