import { randomText } from '../../../src/lib/id.ts'
import { type Fields, fieldsOf } from '../../../src/lib/json/json.ts'
import { type LoopProtocol, objectsIn, type Step } from './tool-loop-provider.ts'

/** DeepSeek while it thinks: a tool turn has to come back with its reasoning, which may be empty. */
export const deepseek: LoopProtocol = {
  ...chatProtocol({
    fieldsFor: (signature) => ({ reasoning_content: signature }),
    idOf: (_, index) => `call_0${index}_x7Kp2mQ9${randomText(8)}`,
  }),
  kind: 'deepseek',
  model: 'deepseek-v4-pro',
  rejection(body, issued) {
    const foreign = toolTurns(body).some(({ reasoning_content: reasoning }) => {
      return typeof reasoning !== 'string' || (reasoning !== '' && !issued.has(reasoning))
    })
    if (!foreign || fieldsOf(body.thinking).type === 'disabled') return undefined
    const message = 'The `reasoning_content` in the thinking mode must be passed back to the API.'
    return { error: { message, type: 'invalid_request_error', param: null, code: 'invalid_request_error' } }
  },
}

/** Kimi K2.5 of Moonshot while it thinks, which counts the calls of each response from 0. */
export const kimi: LoopProtocol = {
  ...chatProtocol({
    fieldsFor: (signature) => ({ reasoning_content: signature }),
    idOf: (name, index) => `functions.${name}:${index}`,
  }),
  kind: 'openai-compatible',
  model: 'kimi-k2.5',
  rejection(body, issued) {
    const index = objectsIn(body.messages).findIndex(
      ({ tool_calls, reasoning_content }) =>
        tool_calls !== undefined && !issued.has(String(reasoning_content)),
    )
    const message = `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${index}`
    return index < 0 ? undefined : { error: { message, type: 'invalid_request_error' } }
  },
}

/** Gemini 3 behind OpenRouter, which counts the calls of each response from 0 and names them in its details. */
export const openrouter: LoopProtocol = {
  ...chatProtocol({
    fieldsFor: (data, { calls: [first] }) => ({
      reasoning: 'The gauge comes first.',
      reasoning_details: first && [
        { type: 'reasoning.encrypted', data, id: countedId(first.name, 0), index: 0 },
      ],
    }),
    idOf: countedId,
  }),
  kind: 'openrouter',
  model: 'google/gemini-3-pro-preview',
  rejection(body, issued) {
    const foreign = toolTurns(body).some(({ reasoning_details, tool_calls }) => {
      const [detail] = objectsIn(reasoning_details)
      const own = detail?.data === 'skip_thought_signature_validator' || issued.has(String(detail?.data))
      return !own || detail?.id !== objectsIn(tool_calls)[0]?.id
    })
    const raw = 'Gemini models require OpenRouter reasoning details to be preserved in each request.'
    return foreign
      ? { error: { message: 'Provider returned error', code: 400, metadata: { raw } } }
      : undefined
  },
}

/** Gemini 3 at Google's endpoint for chat completions, where the first call of every step has to come back signed. */
export const geminiChat: LoopProtocol = {
  ...chatProtocol({
    fieldsFor: () => ({ reasoning_content: 'The gauge comes first.' }),
    idOf: (_, index) => `function-call-${index}${randomText(18)}`,
    callFieldsFor: (signature, index) =>
      index === 0 ? { extra_content: { google: { thought_signature: signature } } } : {},
  }),
  kind: 'openai-compatible',
  model: 'gemini-3-pro-preview',
  rejection(body, issued) {
    const unsigned = toolTurns(body).some(({ tool_calls }) => {
      const { google } = fieldsOf(objectsIn(tool_calls)[0]?.extra_content)
      return !issued.has(String(fieldsOf(google).thought_signature))
    })
    const message = 'Function call is missing a thought_signature in functionCall parts.'
    return unsigned ? { error: { code: 400, message, status: 'INVALID_ARGUMENT' } } : undefined
  },
}

function countedId(name: string, index: number): string {
  return `tool_${index}_${name}`
}

type ChatParts = {
  /** The other properties of a message with tool calls. */
  fieldsFor(signature: string, step: Step): Fields
  idOf(name: string, index: number): string
  /** The other properties of a call. */
  callFieldsFor?(signature: string, index: number): Fields
}

function chatProtocol({
  fieldsFor,
  idOf,
  callFieldsFor,
}: ChatParts): Pick<LoopProtocol, 'steps' | 'whole' | 'frames'> {
  const messageOf = (step: Step, signature: string) => ({
    role: 'assistant',
    content: step.text,
    ...fieldsFor(signature, step),
    tool_calls: step.calls.map((call, index) => ({
      ...toolCall(idOf(call.name, index), call, index),
      ...callFieldsFor?.(signature, index),
    })),
  })
  const finishOf = ({ calls }: Step) => (calls.length > 0 ? 'tool_calls' : 'stop')
  return {
    steps: (body) => objectsIn(body.messages).filter(({ role }) => role === 'assistant').length,
    whole: (step, signature) => ({
      choices: [{ index: 0, message: messageOf(step, signature), finish_reason: finishOf(step) }],
      usage,
    }),
    frames: (step, signature) => [
      { choices: [{ index: 0, delta: messageOf(step, signature), finish_reason: null }] },
      { choices: [{ index: 0, delta: { content: '' }, finish_reason: finishOf(step) }] },
      { choices: [], usage },
      '[DONE]',
    ],
  }
}

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }

function toolCall(id: string, { name, arguments: input }: Step['calls'][number], index: number): object {
  const function_ = { name, arguments: JSON.stringify(input) }
  return { index, id, type: 'function', function: function_ }
}

function toolTurns(body: Fields): readonly Fields[] {
  return objectsIn(body.messages).filter((message) => message.tool_calls !== undefined)
}
