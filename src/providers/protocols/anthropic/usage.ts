import type {
  Finish,
  FinishReason,
  ProviderFields,
  ServedTier,
  Usage,
} from '../../../domain/generation/events.ts'
import {
  type Fields,
  fieldsOf,
  isObject,
  listOf,
  numberOf,
  textOf,
  withoutEmpty,
} from '../../../lib/json/json.ts'
import { countOf } from '../parsing.ts'

/** The end of a message, from its last fields and its counts. A call of the output tool is not a tool call. */
export function finishFor(ending: Fields, counts: Fields, hasToolCalls: boolean): Finish {
  const stopReason = textOf(ending.stop_reason) ?? 'end_turn'
  const stopSequence = textOf(ending.stop_sequence)
  const providerFields = providerFieldsOf(ending, counts)
  return {
    type: 'finish',
    choice: 0,
    reason: finishReasons.get(stopReason) ?? (hasToolCalls ? 'tool_calls' : 'stop'),
    ...(!plainStopReasons.has(stopReason) && { providerReason: stopReason }),
    ...(stopSequence !== undefined && { stopSequence }),
    ...(providerFields && { providerFields }),
  }
}

/** The stop reasons that a finish reason expresses completely. */
const plainStopReasons: ReadonlySet<string> = new Set(['end_turn', 'max_tokens', 'tool_use'])

/** All other stop reasons are a normal stop. */
const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'content_filter'],
])

const messageFields = ['container', 'stop_details', 'context_management', 'diagnostics']
const usageFields = ['server_tool_use', 'iterations']
/** With compactions, whose tokens are in the iterations alone, and the sums are not what the provider reported. */
const countFields = [
  'input_tokens',
  'output_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
  'cache_creation',
]

/** The fields without a common one: the container of the tools, and how often the provider ran them. */
function providerFieldsOf(ending: Fields, counts: Fields): ProviderFields | undefined {
  const withCounts = compactionsOf(counts).length > 0
  const usage = selected(withCounts ? [...usageFields, ...countFields] : usageFields, counts)
  const fields = { ...selected(messageFields, ending), ...(usage && { usage }) }
  return Object.keys(fields).length === 0 ? undefined : { protocol: 'anthropic', fields }
}

function selected(names: readonly string[], fields: Fields): Fields | undefined {
  const present = names.filter((name) => fields[name] !== undefined && fields[name] !== null)
  return present.length === 0 ? undefined : Object.fromEntries(present.map((name) => [name, fields[name]]))
}

/** The counts, overridden by later ones: each later count is a total from the beginning. */
export function mergeUsage(counts: Fields, later: unknown): Fields {
  return isObject(later) ? { ...counts, ...withoutEmpty(later) } : counts
}

/**
 * The usage of a response; undefined where all counts are zero. Anthropic counts cached tokens apart from input tokens,
 * and compactions of the context apart from the message.
 */
export function parseUsage(counts: Fields): Usage | undefined {
  const all = [parseCounts(counts), ...compactionsOf(counts).map(parseCounts)]
  const usage = all.reduce(addCounts)
  return usage.promptTokens + usage.completionTokens === 0 ? undefined : usage
}

/** The counts of the compactions of the context, which the other counts do not include. */
function compactionsOf(counts: Fields): readonly Fields[] {
  return listOf(counts.iterations)
    .map(fieldsOf)
    .filter(({ type }) => type === 'compaction')
}

function parseCounts(counts: Fields): Usage {
  const cachedTokens = countOf(counts.cache_read_input_tokens)
  const cacheWriteTokens = countOf(counts.cache_creation_input_tokens)
  const { ephemeral_1h_input_tokens: long, ephemeral_5m_input_tokens: short } = fieldsOf(
    counts.cache_creation,
  )
  const longWrites = numberOf(long) ?? (numberOf(short) === undefined ? undefined : 0)
  const completionTokens = countOf(counts.output_tokens) ?? 0
  return {
    promptTokens: (countOf(counts.input_tokens) ?? 0) + (cachedTokens ?? 0) + (cacheWriteTokens ?? 0),
    completionTokens,
    cachedTokens,
    cacheWriteTokens,
    longCacheWriteTokens: countOf(longWrites, cacheWriteTokens ?? 0),
    reasoningTokens: countOf(fieldsOf(counts.output_tokens_details).thinking_tokens, completionTokens),
  }
}

function addCounts(usage: Usage, other: Usage): Usage {
  const sums = new Map<string, number | undefined>(Object.entries(usage))
  for (const [name, count] of Object.entries(other))
    if (count !== undefined) sums.set(name, (sums.get(name) ?? 0) + count)
  return { ...usage, ...Object.fromEntries(sums) }
}

/** The service tier of our API for the tier in the counts; null for one that our API does not know. */
export function parseTier(counts: Fields): ServedTier | undefined {
  const { service_tier: tier } = counts
  if (typeof tier !== 'string') return undefined
  if (tier === 'standard') return 'default'
  return tier === 'priority' ? tier : null
}
