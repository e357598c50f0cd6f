import type { PastToolCall } from '../../../domain/generation/request.ts'
import { textOf } from '../../../lib/json/json.ts'
import { type Item, responseIdOf } from './items.ts'
import { flatName, inputProperty } from './tools.ts'

/** What becomes of a call or an output; `repeated`: it comes again, although the conversation has it already. */
type Pairing = 'sent' | 'unpaired' | 'repeated'

/** A call of a tool; `request` is the response to which its item belongs, `previous` the call that had its id before. */
type Call = {
  readonly position: number
  readonly request: string | undefined
  readonly hash: bigint
  readonly previous: Call | undefined
}

/**
 * Pairs each output with the last call of its id: providers reject one without the other. Clients send the calls of
 * earlier responses again, with their outputs; engines that number calls use the same ids in each turn. So a call with
 * its output is repeated if another request had both, unless a call of a response still waits for it.
 */
export function pairCalls(items: readonly Item[]): readonly Pairing[] {
  const pairings = items.map((item): Pairing => (isCall(item) || isOutput(item) ? 'unpaired' : 'sent'))
  const calls = new Map<string, Call>()
  /** The first request that had a call with its output, by the hash of both. */
  const requests = new Map<bigint, string | undefined>()
  for (const [position, item] of items.entries()) {
    const id = textOf(item.call_id) ?? ''
    const request = responseIdOf(item.id)
    const last = calls.get(id)
    const call = toCall(item)
    if (call) calls.set(id, { position, request, hash: hashOf(call), previous: last })
    if (!last || !isOutput(item)) continue
    // A call that comes with its output may be a copy of one that the model made before.
    const original = (last.request === request && last.previous) || last
    const waits = pairings[original.position] === 'unpaired' && original.hash === last.hash
    const output = textOf(item.output) ?? JSON.stringify([item.output])
    const pair = Bun.hash.wyhash(output, last.hash)
    const first = requests.get(pair) ?? request
    requests.set(pair, first)
    const isRepeated = first !== request && !waits
    if (isRepeated) calls.set(id, original)
    pairings[position] = isRepeated ? 'repeated' : 'sent'
    if (pairings[last.position] === 'unpaired') pairings[last.position] = pairings[position]
  }
  return pairings
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
