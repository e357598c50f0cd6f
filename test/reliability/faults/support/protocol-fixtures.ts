import { completionOf, framesOf, chatOutput } from '../../../support/chat-fixtures.ts'

/** The default response, `It is four metres.`, in the protocol of a provider. */
export type ProtocolFixture = {
  readonly kind: string
  readonly complete: string
  /** The frames up to the first words, and those after them. */
  readonly firstFrames: readonly string[]
  readonly lastFrames: readonly string[]
  /** An error in the middle of a stream. */
  readonly error: string
  /** A frame with this text. */
  readonly text: (text: string) => string
  /** The frame that starts a tool call, and one that continues its arguments. */
  readonly firstCallFrame: string
  readonly argumentsFrame: (text: string) => string
  /** A complete response, and a frame, with a tool call whose arguments are this JSON. */
  readonly callReply: (json: string) => readonly [whole: string, frame: string]
  /** The cost in nano-dollars of a response that broke after `It is `: the reported prompt, and two tokens. */
  readonly brokenCost: number
}

const frames = framesOf(chatOutput())

const openaiChat: ProtocolFixture = {
  kind: 'openai-compatible',
  complete: JSON.stringify(completionOf(chatOutput())),
  firstFrames: frames.slice(0, 2),
  lastFrames: frames.slice(2),
  error: 'data: {"error":{"message":"Down.","type":"server_error"}}\n\n',
  text: (text) => chunk({ content: text }),
  firstCallFrame: chunk({
    tool_calls: [callPiece({ id: 'call_1', function: { name: 'f', arguments: '' } })],
  }),
  argumentsFrame: (text) => chunk({ tool_calls: [callPiece({ function: { arguments: text } })] }),
  callReply(json) {
    const call = `{"index":0,"id":"call_1","type":"function","function":{"name":"f","arguments":${json}}}`
    const output = `{"role":"assistant","content":null,"tool_calls":[${call}]}`
    const choice = (name: string) =>
      `{"choices":[{"index":0,"${name}":${output},"finish_reason":"tool_calls"}]}`
    return [choice('message'), `data: ${choice('delta')}\n\n`]
  },
  brokenCost: 8 * 1000 + 2 * 10_000,
}

function chunk(delta: object): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`
}

function callPiece(fields: object): object {
  return { index: 0, type: 'function', ...fields }
}

const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'upstream-model' }
const usage = { input_tokens: 12, output_tokens: 5 }

const anthropic: ProtocolFixture = {
  kind: 'anthropic',
  complete: JSON.stringify({
    ...message,
    content: [{ type: 'text', text: 'It is four metres.' }],
    stop_reason: 'end_turn',
    usage,
  }),
  firstFrames: [
    event('message_start', { message: { ...message, content: [], usage: { ...usage, output_tokens: 1 } } }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    delta({ type: 'text_delta', text: 'It is ' }),
  ],
  lastFrames: [
    delta({ type: 'text_delta', text: 'four metres.' }),
    event('content_block_stop', { index: 0 }),
    event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } }),
    event('message_stop', {}),
  ],
  error: event('error', { error: { type: 'api_error', message: 'Down.' } }),
  text: (text) => delta({ type: 'text_delta', text }),
  firstCallFrame: event('content_block_start', {
    index: 1,
    content_block: { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} },
  }),
  argumentsFrame: (text) => delta({ type: 'input_json_delta', partial_json: text }),
  callReply(json) {
    const block = `{"type":"tool_use","id":"toolu_1","name":"f","input":${json}}`
    const complete = `{"type":"message","role":"assistant","content":[${block}],"stop_reason":"tool_use"}`
    return [complete, `data: {"type":"content_block_start","index":1,"content_block":${block}}\n\n`]
  },
  brokenCost: 12 * 1000 + 2 * 10_000,
}

function event(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
}

function delta(fields: object): string {
  return event('content_block_delta', { index: 0, delta: fields })
}

/** The protocols that every fault is tested with. */
export const protocolFixtures: readonly ProtocolFixture[] = [openaiChat, anthropic]
