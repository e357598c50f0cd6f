import type { PastToolCall } from '../../../domain/generation/request.ts'
import { textOf } from '../../../lib/json/json.ts'
import { isOutputItemId, type Item, responseIdOf } from './items.ts'
import { flatName, inputProperty } from './tools.ts'

/** What becomes of a call or an output; `repeated`: it comes again, although the conversation has it already. */
type Pairing = 'sent' | 'unpaired' | 'repeated'

/** `request` is the response to which the item of the call belongs, `previous` the call that had its id before. */
type Call = {
  readonly position: number
  readonly request: string | undefined
  /** Whether its item comes again, with its id. */
  readonly isCopy: boolean
  readonly hash: bigint
  readonly previous: Call | undefined
}

/**
 * Pairs each output with the last call of its id: providers reject one without the other. Clients send the calls of
 * earlier responses again, with their outputs; engines that number calls use the same ids in each turn. So a call of a
 * model with its output is repeated if another request had both, unless a call of a response still waits for it.
 */
export function pairCalls(items: readonly Item[]): readonly Pairing[] {
  const pairs = new CallPairs(items)
  for (const [position, item] of items.entries()) pairs.add(item, position)
  return pairs.pairings
}

class CallPairs {
  readonly pairings: Pairing[]
  /** The last call of each id, and of the id of each item. */
  readonly #calls = new Map<string, Call>()
  readonly #ofItems = new Map<string, Call>()
  /** The hashes of the calls that models have made: others are the client's own, and none of them is a copy. */
  readonly #made = new Set<bigint>()
  /** The first request that had a call with its output, by the hash of both. */
  readonly #requests = new Map<bigint, string | undefined>()

  constructor(items: readonly Item[]) {
    this.pairings = items.map((item) => (isCall(item) || isOutput(item) ? 'unpaired' : 'sent'))
  }

  add(item: Item, position: number): void {
    const call = toCall(item)
    if (call) return this.#addCall(call, item, position)
    const last = this.#calls.get(textOf(item.call_id) ?? '')
    if (last && isOutput(item)) this.#addOutput(item, position, last)
  }

  #addCall(call: PastToolCall, { id }: Item, position: number): void {
    const original = this.#ofItems.get(id)
    const hash = hashOf(call)
    const added: Call = {
      position,
      request: responseIdOf(id),
      isCopy: original !== undefined,
      hash,
      previous: original ?? this.#calls.get(call.id),
    }
    this.#calls.set(call.id, added)
    this.#ofItems.set(id, added)
    if (isOutputItemId(id)) this.#made.add(hash)
  }

  #addOutput(item: Item, position: number, last: Call): void {
    const request = responseIdOf(item.id)
    // A call that comes with its output may be a copy of one that the model made before.
    const original = ((last.isCopy || last.request === request) && last.previous) || last
    const waits = this.pairings[original.position] === 'unpaired' && original.hash === last.hash
    const output = textOf(item.output) ?? JSON.stringify([item.output])
    const pair = Bun.hash.wyhash(output, last.hash)
    const first = this.#requests.get(pair) ?? request
    this.#requests.set(pair, first)
    const isRepeated = first !== request && !waits && this.#made.has(last.hash)
    if (isRepeated) this.#calls.set(String(item.call_id), original)
    const pairing = isRepeated ? 'repeated' : 'sent'
    this.pairings[position] = pairing
    if (this.pairings[last.position] === 'unpaired') this.pairings[last.position] = pairing
  }
}

/** Without white space: clients parse the arguments, and write them as JSON of their own. */
function hashOf({ id, name, arguments: text }: PastToolCall): bigint {
  return Bun.hash.wyhash(`${id} ${name} ${text.replace(/\s+/g, '')}`)
}

function isCall({ type }: Item): boolean {
  return /^(function|custom_tool)_call$/.test(type)
}

/** Whether the item is the output of a call. */
export function isOutput({ type }: Item): boolean {
  return /^(function|custom_tool)_call_output$/.test(type)
}

/** The call in the item; undefined where it is not valid. */
export function toCall(item: Item): PastToolCall | undefined {
  const id = textOf(item.call_id)
  if (!isCall(item) || id === undefined || typeof item.name !== 'string') return undefined
  const namespace = textOf(item.namespace)
  const name = namespace === undefined ? item.name : flatName(namespace, item.name)
  const json = item.type === 'function_call' ? item.arguments : inputAsJson(item)
  return typeof json === 'string' ? { id, name, arguments: json } : undefined
}

/** The input of a custom tool as the arguments of the function that models receive. */
function inputAsJson({ input }: Item): string | undefined {
  return typeof input === 'string' ? JSON.stringify({ [inputProperty]: input }) : undefined
}
