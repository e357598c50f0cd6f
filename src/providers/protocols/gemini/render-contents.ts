import type {
  AssistantMessage,
  ForeignPart,
  Generation,
  ImagePart,
  Message,
  Part,
  PastToolCall,
  SystemMessage,
  ToolMessage,
} from '../../../domain/generation/request.ts'
import { type Fields, fieldsOf, isObject, textOf } from '../../../lib/json/json.ts'
import type { Body, Warn } from '../protocol.ts'
import { parseBounded, parseDataUrl, parsesResults, requireContent, warnOfFields } from '../rendering.ts'
import type { Dialect } from './models.ts'

/** The consecutive messages of one role. */
type Turn = { readonly role: 'user' | 'model'; readonly parts: readonly Body[] }

/** The conversation in turns, and its system instructions. */
type Contents = { readonly turns: readonly Turn[]; readonly instructions: readonly Body[] }

/** Renders the conversation in Gemini's form, which begins with a user turn. */
export function renderContents({ messages }: Generation, dialect: Dialect, warn: Warn): Contents {
  // Some providers use the same ids in every response: a result belongs to the last call with its id.
  const names = new Map<string, string>()
  const calls = { names, parsesResults: parsesResults(messages) }
  const instructions: Body[] = []
  const turns: GrowingTurn[] = []
  for (const message of messages) {
    if (message.name !== undefined) warnOfProperties({ name: message.name }, 'messages[].', dialect, warn)
    warnOfProperties(message.extras, 'messages[].', dialect, warn)
    if (isInstruction(message)) {
      if (turns.length > 0)
        warn(
          `System messages are supported by ${dialect.name} only at the beginning, so later ones were moved there.`,
        )
      for (const text of renderTexts(message.parts, dialect, warn)) instructions.push(text)
    } else addTurn(turns, renderTurn(message, calls, dialect, warn))
    if (message.role === 'assistant') for (const call of message.toolCalls) names.set(call.id, call.name)
  }
  // System messages alone become the user message.
  if (turns.length === 0) return { turns: [{ role: 'user', parts: instructions }], instructions: [] }
  const begun = turns[0]?.role === 'user' ? turns : [placeholderTurn, ...turns]
  return { turns: begun.map(resultsFirst), instructions }
}

/** The names of the calls so far by their ids, and whether their results are parsed. */
type Calls = { readonly names: ReadonlyMap<string, string>; readonly parsesResults: boolean }

type GrowingTurn = { readonly role: Turn['role']; readonly parts: Body[] }

const placeholderTurn: Turn = { role: 'user', parts: [{ text: '…' }] }

function isInstruction(message: Message): message is SystemMessage {
  return message.role === 'system' || message.role === 'developer'
}

type TurnMessage = Exclude<Message, SystemMessage>

function renderTurn(message: TurnMessage, calls: Calls, dialect: Dialect, warn: Warn): GrowingTurn {
  switch (message.role) {
    case 'user':
      return {
        role: 'user',
        parts: requireContent(renderParts(message.parts, dialect, warn), message, dialect.name),
      }
    case 'assistant':
      return { role: 'model', parts: renderModelParts(message, dialect, warn) }
    case 'tool':
      return { role: 'user', parts: renderToolResult(message, calls, dialect, warn) }
  }
}

function renderModelParts({ parts, toolCalls }: AssistantMessage, dialect: Dialect, warn: Warn): Body[] {
  const calls = toolCalls.map((call) => renderCall(call, dialect, warn))
  return [...renderParts(parts, dialect, warn), ...calls]
}

/** The text is the function response; images are sent beside it. */
function renderToolResult(
  { parts, callId }: ToolMessage,
  calls: Calls,
  dialect: Dialect,
  warn: Warn,
): Body[] {
  const name = calls.names.get(callId)
  const rendered = renderParts(parts, dialect, warn)
  if (name === undefined) {
    warn(`Tool results without their tool call are not supported by ${dialect.name} and were sent as text.`)
    return rendered
  }
  const text = rendered.map((part) => part.text ?? '').join('')
  const response = (calls.parsesResults ? objectIn(text) : undefined) ?? { output: text }
  return [
    renderResult(callId, name, response, dialect),
    ...rendered.filter((part) => part.text === undefined),
  ]
}

function addTurn(turns: GrowingTurn[], turn: GrowingTurn): void {
  const last = turns.at(-1)
  if (turn.parts.length === 0) return
  if (last?.role === turn.role) for (const part of turn.parts) last.parts.push(part)
  else turns.push(turn)
}

/** Results must follow their calls directly, before other parts of the user turn. */
function resultsFirst(turn: Turn): Turn {
  const results = turn.parts.filter((part) => part.functionResponse)
  if (results.length === 0) return turn
  return { ...turn, parts: [...results, ...turn.parts.filter((part) => !part.functionResponse)] }
}

/** Renders a tool call of an earlier turn, with its signature. */
function renderCall(call: PastToolCall, dialect: Dialect, warn: Warn): Body {
  const { id, name, state } = call
  const functionCall = {
    ...(dialect.callIds ? { id } : {}),
    name,
    args: renderArguments(call, dialect, warn),
  }
  // Only under Gemini's own field: another provider may have generated the turn.
  const signature = isObject(state) ? state.thoughtSignature : undefined
  return signature === undefined ? { functionCall } : { functionCall, thoughtSignature: signature }
}

function renderResult(callId: string, name: string, response: Fields, dialect: Dialect): Body {
  return { functionResponse: { ...(dialect.callIds ? { id: callId } : {}), name, response } }
}

function renderArguments(call: PastToolCall, dialect: Dialect, warn: Warn): Fields {
  const { arguments: text } = call
  if (text.trim() === '') return {}
  const values = objectIn(text)
  if (!values)
    warn(
      `Tool call arguments that are not a JSON object are not supported by ${dialect.name} and were wrapped in one.`,
    )
  return values ?? { arguments: text }
}

function objectIn(text: string): Fields | undefined {
  const value = parseBounded(text)
  return isObject(value) ? value : undefined
}

/** Google's documented placeholder for a missing signature. */
const skipSignature = 'skip_thought_signature_validator'

/** Returns the turns with a signature on the first call of every step since the last user message. */
export function signSteps(turns: readonly Turn[], dialect: Dialect, warn: Warn): readonly Turn[] {
  const begin = turns.findLastIndex((turn) => turn.role === 'user' && !turn.parts.some(isCallResult))
  return turns.map((turn, index) => (index > begin ? signFirst(turn, dialect, warn) : turn))
}

function isCallResult(part: Body): boolean {
  return part.functionResponse !== undefined
}

/** Only the first call of a step has a signature. */
function signFirst(turn: Turn, dialect: Dialect, warn: Warn): Turn {
  const first = turn.parts.findIndex((part) => part.functionCall)
  const part = turn.parts[first]
  if (!part || part.thoughtSignature !== undefined) return turn
  warn(`The reasoning of an earlier tool call is not available; ${dialect.name} continues without it.`)
  return { ...turn, parts: turn.parts.with(first, { ...part, thoughtSignature: skipSignature }) }
}

/** Renders the parts, without those that Gemini does not support. */
function renderParts(parts: readonly Part[], dialect: Dialect, warn: Warn): Body[] {
  return parts.map((part) => renderPart(part, dialect, warn)).filter((part) => part !== undefined)
}

/** Renders only the text parts; others are ignored with a warning. */
function renderTexts(parts: readonly Part[], dialect: Dialect, warn: Warn): Body[] {
  return renderParts(parts, dialect, warn).filter((part) => {
    if (part.text === undefined)
      warn(
        `Content parts other than text are not supported by ${dialect.name} in system messages and were ignored.`,
      )
    return part.text !== undefined
  })
}

function renderPart(part: Part, dialect: Dialect, warn: Warn): Body | undefined {
  if (part.type === 'foreign') return renderForeign(part, dialect, warn)
  warnOfProperties(part.extras, 'messages[].content[].', dialect, warn)
  if (part.type === 'image') return renderImage(part, dialect, warn)
  // Gemini rejects an empty text.
  return part.text === '' ? undefined : { text: part.text }
}

function renderImage({ url, detail }: ImagePart, dialect: Dialect, warn: Warn): Body {
  if (detail !== undefined && detail !== 'auto')
    warnOfProperties({ detail }, 'messages[].content[].image_url.', dialect, warn)
  return renderMedia(url) ?? { fileData: { fileUri: url } }
}

function renderMedia(url: string): Body | undefined {
  const content = parseDataUrl(url)
  return content && { inlineData: { mimeType: content.mediaType || 'text/plain', data: content.data } }
}

/** Renders inline files and audio, and a refusal as text. */
function renderForeign({ value }: ForeignPart, dialect: Dialect, warn: Warn): Body | undefined {
  const part = renderKnown(value)
  if (!part && isFileByUrl(value))
    warn(
      `Files by URL are not supported by ${dialect.name} and were ignored: send their bytes as a data URL.`,
    )
  else if (!part) warn({ what: 'Content part type', name: value.type, by: dialect.name })
  return part
}

function renderKnown(value: Fields): Body | undefined {
  if (value.type === 'refusal')
    return textOf(value.refusal) === undefined ? undefined : { text: value.refusal }
  if (value.type === 'file') return renderMedia(textOf(fieldsOf(value.file).file_data) ?? '')
  if (value.type !== 'input_audio') return undefined
  const { data, format } = fieldsOf(value.input_audio)
  if (textOf(data) === undefined || textOf(format) === undefined) return undefined
  return { inlineData: { mimeType: `audio/${String(format)}`, data } }
}

function isFileByUrl({ type, file }: Fields): boolean {
  return type === 'file' && /^https?:/.test(textOf(fieldsOf(file).file_data) ?? '')
}

/** Warns of the extra properties of a message or a part; `within` is their path. */
function warnOfProperties(fields: Fields | undefined, within: string, dialect: Dialect, warn: Warn): void {
  warnOfFields(fields, { what: 'Property', within, by: dialect.name }, warn)
}
