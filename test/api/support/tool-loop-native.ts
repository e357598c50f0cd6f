import { type Fields, fieldsOf } from '../../../src/lib/json/json.ts'
import { type LoopProtocol, objectsIn, type Step } from './tool-loop-provider.ts'

const thought = 'The gauge comes first.'

/** Claude with a budget for its thoughts: a tool turn has to begin with them as long as thinking is on. */
export const anthropic: LoopProtocol = {
  kind: 'anthropic',
  model: 'claude-sonnet-4-5',
  steps: (body) => objectsIn(body.messages).filter(({ role }) => role === 'assistant').length,
  rejection: refuseMessages,
  whole: (step, signature) => ({
    type: 'message',
    role: 'assistant',
    content: blocksOf(step, signature),
    stop_reason: step.calls.length > 0 ? 'tool_use' : 'end_turn',
    usage: { input_tokens: 10, output_tokens: 5 },
  }),
  frames: messageFrames,
}

function refuseMessages({ thinking, messages }: Fields, issued: ReadonlySet<string>): Fields | undefined {
  for (const [place, { role, content }] of objectsIn(messages).entries()) {
    if (role !== 'assistant') continue
    const [first] = objectsIn(content)
    const at = `messages.${place}.content.0`
    if (first?.type === 'thinking') {
      const own = first.thinking === thought && issued.has(String(first.signature))
      if (!own) return invalid(`${at}: Invalid \`signature\` in \`thinking\` block`)
    } else if (fieldsOf(thinking).type === 'enabled') {
      return invalid(`${at}.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`tool_use\`.`)
    }
  }
  return undefined
}

function invalid(message: string): Fields {
  return { type: 'error', error: { type: 'invalid_request_error', message } }
}

function blocksOf({ calls, text }: Step, signature: string): Fields[] {
  const thinking = { type: 'thinking', thinking: thought, signature }
  const output = text === '' ? [] : [{ type: 'text', text }]
  const uses = calls.map(({ name, arguments: input }, index) => {
    return { type: 'tool_use', id: `toolu_01St3pX${calls.length}y${index}k7`, name, input }
  })
  return [thinking, ...output, ...uses]
}

function messageFrames(step: Step, signature: string): object[] {
  const blocks = blocksOf(step, signature).flatMap((block, index) => framesOfBlock(block, index))
  const stop_reason = step.calls.length > 0 ? 'tool_use' : 'end_turn'
  return [
    { type: 'message_start', message: { usage: { input_tokens: 10, output_tokens: 1 } } },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ]
}

function framesOfBlock(block: Fields, index: number): object[] {
  const deltas = deltasOf(block)
  const empty = {
    ...block,
    ...(block.type === 'tool_use' ? { input: {} } : { thinking: '', signature: '', text: '' }),
  }
  return [
    { type: 'content_block_start', index, content_block: empty },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}

function deltasOf({ type, thinking, signature, text, input }: Fields): object[] {
  if (type === 'text') return [{ type: 'text_delta', text }]
  if (type === 'tool_use') return [{ type: 'input_json_delta', partial_json: JSON.stringify(input) }]
  return [
    { type: 'thinking_delta', thinking },
    { type: 'signature_delta', signature: String(signature).slice(0, 9) },
    { type: 'signature_delta', signature: String(signature).slice(9) },
  ]
}

/** Gemini 3: the first call of every step has to come back signed. */
export const gemini: LoopProtocol = {
  kind: 'gemini',
  model: 'gemini-3-pro-preview',
  steps: (body) => objectsIn(body.contents).filter(({ role }) => role === 'model').length,
  rejection: refuseContents,
  whole: (step, signature) => chunkOf(partsOf(step, signature), true),
  frames(step, signature) {
    const parts = partsOf(step, signature)
    return parts.map((part, index) => chunkOf([part], index === parts.length - 1))
  },
}

function refuseContents({ contents }: Fields, issued: ReadonlySet<string>): Fields | undefined {
  for (const { role, parts } of objectsIn(contents)) {
    const first = objectsIn(parts).find((part) => part.functionCall)
    if (role !== 'model' || !first) continue
    const { thoughtSignature: signature, functionCall } = first
    const { name } = fieldsOf(functionCall)
    if (signature === undefined)
      return notValid(`Function call is missing a thought_signature in functionCall parts, \`${name}\`.`)
    if (signature !== 'skip_thought_signature_validator' && !issued.has(String(signature)))
      return notValid('Corrupted thought signature.')
  }
  return undefined
}

function notValid(message: string): Fields {
  return { error: { code: 400, message, status: 'INVALID_ARGUMENT' } }
}

/** Only the first of calls at once is signed, and they have no ids. */
function partsOf({ calls, text }: Step, thoughtSignature: string): object[] {
  const output = text === '' ? [] : [{ text }]
  return [
    { text: thought, thought: true },
    ...output,
    ...calls.map(({ name, arguments: args }, index) => {
      return { functionCall: { name, args }, ...(index === 0 ? { thoughtSignature } : {}) }
    }),
  ]
}

function chunkOf(parts: readonly object[], last: boolean): object {
  const finishReason = last ? 'STOP' : undefined
  return {
    candidates: [{ content: { role: 'model', parts }, index: 0, finishReason }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
  }
}
