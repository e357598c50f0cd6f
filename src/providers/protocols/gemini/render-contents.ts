import type {
  AssistantMessage,
  Generation,
  Message,
  PastToolCall,
  SystemMessage,
  ToolMessage,
} from '../../../domain/generation/request.ts'
import { type Fields, isObject, parseJson } from '../../../lib/json/json.ts'
import { tooDeep } from '../../../lib/validation/nesting.ts'
import type { Warn } from '../protocol.ts'
import type { Body, Dialect } from './dialect.ts'
import { renderParts, renderTexts } from './render-parts.ts'
import { warnOfExtras } from './unsupported.ts'

/** One side's say: several messages in a row become one turn. */
export type Turn = { readonly role: 'user' | 'model'; readonly parts: readonly Body[] }

/** The conversation in turns, and what the system says in it. */
export type Contents = { readonly turns: readonly Turn[]; readonly instructions: readonly Body[] }

/** The conversation as Gemini has it; it begins with a turn of the user. */
export function renderContents({ messages }: Generation, dialect: Dialect, warn: Warn): Contents {
  // Some providers give out the same ids in every answer: a result is that of the last call before it.
  const names = new Map<string, string>()
  const instructions: Body[] = []
  const turns: GrowingTurn[] = []
  for (const message of messages) {
    warnOfNames(message, dialect, warn)
    if (instructing(message)) {
      if (turns.length > 0)
        warn(`${dialect.name} hears the system only at the beginning; later words were put there.`)
      for (const text of renderTexts(message.parts, dialect, warn)) instructions.push(text)
    } else addTurn(turns, renderTurn(message, names, dialect, warn))
    if (message.role === 'assistant') for (const call of message.toolCalls) names.set(call.id, call.name)
  }
  // A system that speaks alone is asking.
  if (turns.length === 0) return { turns: [{ role: 'user', parts: instructions }], instructions: [] }
  const begun = turns[0]?.role === 'user' ? turns : [silence, ...turns]
  return { turns: begun.map(resultsFirst), instructions }
}

type GrowingTurn = { readonly role: Turn['role']; readonly parts: Body[] }

const silence: Turn = { role: 'user', parts: [{ text: '…' }] }

function warnOfNames(message: Message, dialect: Dialect, warn: Warn): void {
  warnOfExtras({ name: message.name }, 'messages[].', dialect, warn)
  warnOfExtras(message.extras, 'messages[].', dialect, warn)
}

function instructing(message: Message): message is SystemMessage {
  return message.role === 'system' || message.role === 'developer'
}

type Spoken = Exclude<Message, SystemMessage>

function renderTurn(
  message: Spoken,
  names: ReadonlyMap<string, string>,
  dialect: Dialect,
  warn: Warn,
): GrowingTurn {
  switch (message.role) {
    case 'user':
      return { role: 'user', parts: renderParts(message.parts, dialect, warn) }
    case 'assistant':
      return { role: 'model', parts: renderAnswer(message, dialect, warn) }
    case 'tool':
      return { role: 'user', parts: renderToolResult(message, names, dialect, warn) }
  }
}

function renderAnswer({ parts, toolCalls }: AssistantMessage, dialect: Dialect, warn: Warn): Body[] {
  const calls = toolCalls.map((call) => renderCall(call, dialect, warn))
  return [...renderParts(parts, dialect, warn), ...calls]
}

/** The text is the result; an image in it stands beside it. */
function renderToolResult(
  { parts, callId }: ToolMessage,
  names: ReadonlyMap<string, string>,
  dialect: Dialect,
  warn: Warn,
): Body[] {
  const name = names.get(callId)
  const rendered = renderParts(parts, dialect, warn)
  if (name === undefined) {
    warn(`${dialect.name} takes no result of a tool call that is not in the conversation; it went as text.`)
    return rendered
  }
  const text = rendered.map((part) => part.text ?? '').join('')
  return [renderResult(callId, name, text, dialect), ...rendered.filter((part) => part.text === undefined)]
}

function addTurn(turns: GrowingTurn[], turn: GrowingTurn): void {
  const last = turns.at(-1)
  if (turn.parts.length === 0) return
  if (last?.role === turn.role) for (const part of turn.parts) last.parts.push(part)
  else turns.push(turn)
}

/** Results have to follow their calls directly, before anything else that the user adds. */
function resultsFirst(turn: Turn): Turn {
  const results = turn.parts.filter((part) => part.functionResponse)
  if (results.length === 0) return turn
  return { ...turn, parts: [...results, ...turn.parts.filter((part) => !part.functionResponse)] }
}

/** A tool call of an earlier turn, with the signature that came with it. */
export function renderCall(call: PastToolCall, dialect: Dialect, warn: Warn): Body {
  const { id, name, state } = call
  const functionCall = {
    ...(dialect.callIds ? { id } : {}),
    name,
    args: renderArguments(call, dialect, warn),
  }
  // Only under Gemini's own name: the turn may have been answered by another provider.
  const signature = isObject(state) ? state.thoughtSignature : undefined
  return signature === undefined ? { functionCall } : { functionCall, thoughtSignature: signature }
}

/** The result of the call with this name. */
export function renderResult(callId: string, name: string, text: string, dialect: Dialect): Body {
  const response = objectIn(text) ?? { output: text }
  return { functionResponse: { ...(dialect.callIds ? { id: callId } : {}), name, response } }
}

function renderArguments(call: PastToolCall, dialect: Dialect, warn: Warn): Fields {
  const { arguments: text } = call
  if (text.trim() === '') return {}
  const values = objectIn(text)
  if (!values)
    warn(`${dialect.name} takes the arguments of a tool call as an object only; others went as text in one.`)
  return values ?? { arguments: text }
}

/** What is nested deeper than any tool needs stays a text: it would be written again by recursion. */
const deepest = 200

function objectIn(text: string): Fields | undefined {
  if (tooDeep(text, deepest)) return undefined
  const value = parseJson(text)
  return isObject(value) ? value : undefined
}

/** Google's own word for a call of which no signature is known. */
const unsigned = 'skip_thought_signature_validator'

/** The turns with a signature on the first call of every step since the user last spoke. */
export function signSteps(turns: readonly Turn[], dialect: Dialect, warn: Warn): readonly Turn[] {
  const begin = turns.findLastIndex((turn) => turn.role === 'user' && !turn.parts.some(answersCall))
  return turns.map((turn, index) => (index > begin ? signFirst(turn, dialect, warn) : turn))
}

function answersCall(part: Body): boolean {
  return part.functionResponse !== undefined
}

/** The other calls of a step never have one. */
function signFirst(turn: Turn, dialect: Dialect, warn: Warn): Turn {
  const first = turn.parts.findIndex((part) => part.functionCall)
  const part = turn.parts[first]
  if (!part || part.thoughtSignature !== undefined) return turn
  warn(`The reasoning behind an earlier tool call is not known here; ${dialect.name} goes on without it.`)
  return { ...turn, parts: turn.parts.with(first, { ...part, thoughtSignature: unsigned }) }
}
