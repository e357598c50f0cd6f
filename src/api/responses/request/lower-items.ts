import type { AssistantMessage, Message, Part, PastToolCall } from '../../../domain/generation/request.ts'
import type { ReturnedStates } from '../../../domain/generation/returned-states.ts'
import { rejectProviderState } from '../../../http/provider-state.ts'
import { badRequest } from '../../../lib/errors/errors.ts'
import { type Fields, fieldsOf, isObject, listOf, textOf } from '../../../lib/json/json.ts'
import { additionalTools } from './additional-tools.ts'
import type { Item } from './items.ts'
import type { Warn } from './lower-extras.ts'
import { isOutput, pairCalls, toCall } from './pair-calls.ts'
import { reasoningStates } from './reasoning-states.ts'

/**
 * Lowers the items of a conversation to messages; warns of items that are ignored. Throws the 400 of an output in the
 * input whose call is missing, if the gateway accepts tools.
 */
export function lowerItems(
  context: readonly Item[],
  input: readonly Item[],
  functionTools: boolean,
  warn: Warn,
): readonly Message[] {
  const lowering = new ItemLowering([...context, ...input], warn)
  context.forEach((item, index) => lowering.add(item, `previous_response_id[${index}]`))
  input.forEach((item, index) => {
    const added = lowering.add(item, `input[${index}]`)
    if (!added && functionTools && isOutput(item)) throw missingCall(item, `input[${index}].call_id`)
  })
  return lowering.messages
}

type Turn = Omit<AssistantMessage, 'parts' | 'toolCalls'> & {
  readonly parts: Part[]
  readonly toolCalls: PastToolCall[]
}

/** Builds the messages from items, one after the other. */
class ItemLowering {
  readonly messages: (Exclude<Message, AssistantMessage> | Turn)[] = []
  /** The parts of the results since the last turn of the model, by the id of the call. */
  readonly #results = new Map<string, Part[]>()
  readonly #pairings: ReturnType<typeof pairCalls>
  readonly #reasoning: ReturnedStates<Item>
  readonly #warn: Warn
  /** The number of items so far. */
  #position = 0

  constructor(items: readonly Item[], warn: Warn) {
    this.#pairings = pairCalls(items)
    this.#reasoning = reasoningStates(items)
    this.#warn = warn
  }

  /** Adds an item; false for one that is ignored with a warning. */
  add(item: Item, path: string): boolean {
    const pairing = this.#pairings[this.#position++]
    if (pairing === 'repeated') {
      this.#reasoning.clear()
      return true
    }
    if (pairing === 'sent' && this.#add(item, path)) return true
    this.#warn(pairing === 'sent' ? { what: 'Item type', name: item.type } : unpairedCall)
    return false
  }

  #add(item: Item, path: string): boolean {
    const call = toCall(item)
    if (call) this.#addCall(call)
    else if (isOutput(item)) this.#addOutput(item, path)
    else if (item.type === 'message') this.#addMessage(item, path)
    else if (item.type === 'reasoning') this.#reasoning.add(item)
    else return item.type === additionalTools
    return true
  }

  /** Drops the id and the status of the item, which models do not accept. */
  #addMessage(item: Item, path: string): void {
    const parts = lowerContent(item.content, `${path}.content`, this.#warn)
    this.#results.clear()
    if (item.role === 'assistant') {
      this.#addText(parts)
      return
    }
    this.#reasoning.clear()
    const role = item.role === 'system' || item.role === 'developer' ? item.role : 'user'
    this.messages.push({ role, parts })
  }

  /** Text after a call is of its turn: between a call and its result, chat completions accept no message. */
  #addText(parts: Part[]): void {
    const last = this.messages.at(-1)
    if (last?.role === 'assistant' && last.toolCalls.length > 0) append(last.parts, parts)
    else this.messages.push({ role: 'assistant', parts, toolCalls: [] })
  }

  /** Calls belong to the same assistant turn as the text before them and the calls beside them. */
  #addCall(call: PastToolCall): void {
    const last = this.messages.at(-1)
    const stateful = this.#reasoning.attachTo(call)
    this.#results.clear()
    if (last?.role === 'assistant') last.toolCalls.push(stateful)
    else this.messages.push({ role: 'assistant', parts: [], toolCalls: [stateful] })
  }

  /** Further outputs of a call are of its result, as Codex sends them for a notification: providers accept one for a call. */
  #addOutput(item: Item, path: string): void {
    const callId = String(item.call_id)
    this.#reasoning.clear()
    const parts = lowerContent(item.output, `${path}.output`, this.#warn)
    const result = this.#results.get(callId)
    if (result !== undefined) append(result, parts)
    else {
      this.#results.set(callId, parts)
      this.messages.push({ role: 'tool', callId, parts })
    }
  }
}

/** Not by `push(...parts)`: so many arguments as a request may have parts would overflow the stack. */
function append(parts: Part[], more: readonly Part[]): void {
  for (const part of more) parts.push(part)
}

const unpairedCall = 'Function calls without an output, and outputs without a function call, were ignored.'

function missingCall({ call_id }: Item, param: string): Error {
  const id = textOf(call_id)
  if (id === undefined)
    return badRequest(`Missing required parameter: '${param}'.`, 'missing_required_parameter', param)
  return badRequest(
    `No tool call found for the tool output with call_id '${id}'. Send the call before its output.`,
    'invalid_value',
    param,
  )
}

/** Lowers the content of a message, or the output of a call, to parts. */
function lowerContent(content: unknown, path: string, warn: Warn): Part[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return listOf(content).flatMap((part, index) => {
    return isTyped(part) ? lowerPart(part, `${path}[${index}]`, warn) : []
  })
}

type TypedPart = Fields & { readonly type: string }

function isTyped(part: unknown): part is TypedPart {
  return isObject(part) && typeof part.type === 'string'
}

function lowerPart(part: TypedPart, path: string, warn: Warn): readonly Part[] {
  rejectProviderState(part, path)
  switch (part.type) {
    case 'input_text':
    case 'text':
    case 'output_text':
      return lowerText(part, part.text)
    case 'refusal':
      return lowerText(part, part.refusal)
    case 'input_image':
    case 'image_url':
      return lowerImage(part, warn)
    case 'input_file':
      return [{ type: 'foreign', value: toChatFile(part) }]
    default:
      return [{ type: 'foreign', value: part }]
  }
}

/** Drops the annotations: they come from a model, and no model accepts them. */
function lowerText(part: Fields, text: unknown): readonly Part[] {
  return typeof text === 'string' ? [{ type: 'text', text, extras: cacheControlOf(part) }] : []
}

function cacheControlOf({ cache_control }: Fields): Fields | undefined {
  return cache_control == null ? undefined : { cache_control }
}

function lowerImage(part: Fields, warn: Warn): readonly Part[] {
  const { image_url, detail } = part
  const url = textOf(image_url) ?? textOf(fieldsOf(image_url).url)
  if (url === undefined) {
    warn('Images without `image_url` are not supported and were ignored.')
    return []
  }
  return [{ type: 'image', url, detail: textOf(detail), extras: cacheControlOf(part) }]
}

/** Converts a file to its form in chat completions, in which providers receive it. */
function toChatFile(part: Fields): TypedPart {
  const { file_data, file_url, filename } = part
  const present = Object.entries({ file_data: file_data ?? file_url, filename }).filter(
    ([, value]) => value != null,
  )
  return { type: 'file', file: Object.fromEntries(present), ...cacheControlOf(part) }
}
