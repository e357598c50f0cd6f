import type { Parameter } from '../../domain/generation/parameters.ts'
import type { ContainerReference, Effort, Format, Generation } from '../../domain/generation/request.ts'
import type { LoweredRequest } from '../../gateway/models/prepare-generation.ts'
import { rejectProviderState } from '../../http/provider-state.ts'
import { type Fields, fieldsOf, listOf, textOf } from '../../lib/json/json.ts'
import { lowerMessages } from './lower-messages.ts'
import { isCustom, isStrictSchema, lowerTools } from './lower-tools.ts'
import type { CountTokensRequest, MessageRequest } from './schema.ts'

/** The headers of a request that belong to its meaning. */
export type MessageHeaders = { readonly version?: string | undefined; readonly beta?: string | undefined }

/** This API's names of parameters. */
const names: LoweredRequest['names'] = {
  stop: 'stop_sequences',
  response_format: 'output_config.format',
  reasoning_effort: 'thinking',
  parallel_tool_calls: 'tool_choice.disable_parallel_tool_use',
}

/** Those of a request whose effort alone stands for its reasoning. */
const effortNames: LoweredRequest['names'] = { ...names, reasoning_effort: 'output_config.effort' }

/** Clients request thinking of every model: one that cannot think answers without. */
const droppable: ReadonlySet<Parameter> = new Set(['reasoning_effort'])

/** Lowers a request for a message. Throws 400 where its fields are valid on their own, but not together. */
export function lower(request: MessageRequest, headers: MessageHeaders = {}): LoweredRequest {
  const { generation, ...lowered } = lowerFields(request, headers, containerOf(request))
  const sampled: Generation = {
    ...generation,
    maxTokens: request.max_tokens,
    stop: request.stop_sequences?.length ? request.stop_sequences : undefined,
    temperature: request.temperature ?? undefined,
    topP: request.top_p ?? undefined,
    serviceTier: request.service_tier === 'standard_only' ? 'default' : (request.service_tier ?? undefined),
    user: request.metadata?.user_id ?? undefined,
    extras: request.top_k == null ? noExtras : { top_k: request.top_k },
  }
  return { ...lowered, generation: sampled }
}

/** Lowers the part of a request whose tokens are counted. */
export function lowerPrompt(request: CountTokensRequest, headers: MessageHeaders = {}): LoweredRequest {
  return lowerFields(request, headers)
}

/** `container` is the one that the request may name: the gateway verifies that the organization has it. */
function lowerFields(
  request: CountTokensRequest,
  headers: MessageHeaders,
  container?: ContainerReference,
): LoweredRequest {
  rejectState(container ? withoutContainer(request) : request)
  const generation: Generation = {
    messages: lowerMessages(request),
    ...lowerTools(request),
    format: lowerFormat(request),
    effort: lowerEffort(request),
    compaction: requestsCompaction(request) || undefined,
    source: {
      protocol: 'anthropic',
      body: request,
      ...sourceHeaders(headers),
      ...(container && { container }),
    },
    extras: noExtras,
  }
  const namesOfRequest = request.thinking == null ? effortNames : names
  return { generation, names: namesOfRequest, droppable, warnings: [] }
}

function containerOf({ container }: MessageRequest): ContainerReference | undefined {
  const param = typeof container === 'string' ? 'container' : 'container.id'
  const id = textOf(container) ?? textOf(fieldsOf(container).id)
  return id === undefined ? undefined : { id, param }
}

function withoutContainer({ container, ...request }: CountTokensRequest): CountTokensRequest {
  const { id: _, ...others } = fieldsOf(container)
  return { ...request, container: others }
}

/** In all that a provider of this API receives as it came, but the schemas of the caller, which may name anything. */
function rejectState(request: CountTokensRequest): void {
  const { tools, output_config: _, output_format: __, ...fields } = request
  rejectProviderState(fields, '')
  for (const [index, tool] of (tools ?? []).entries())
    if (!isCustom(tool)) rejectProviderState(tool, `tools[${index}]`)
}

/** A provider of this API receives the headers as they came; the version decides which fields are valid. */
function sourceHeaders({ version, beta }: MessageHeaders) {
  if (version === undefined && beta === undefined) return undefined
  const versions: Record<string, string> = version === undefined ? {} : { 'anthropic-version': version }
  return { headers: beta === undefined ? versions : { ...versions, 'anthropic-beta': beta } }
}

/** Only Anthropic does that; its other edits of the context generate nothing. */
function requestsCompaction(request: Fields): boolean {
  const edits = listOf(fieldsOf(request.context_management).edits)
  return edits.some((edit) => textOf(fieldsOf(edit).type)?.startsWith('compact') === true)
}

function lowerFormat({ output_config, output_format }: CountTokensRequest): Format | undefined {
  const format = output_config?.format ?? output_format
  return format == null
    ? undefined
    : { type: 'json_schema', name: 'output', schema: format.schema, strict: isStrictSchema(format.schema) }
}

const noExtras: Fields = {}

/**
 * The effort that the thinking of a request stands for; undefined where it leaves that to the model. An explicit effort
 * counts, unless thinking is disabled.
 */
function lowerEffort({
  thinking,
  output_config,
}: Pick<CountTokensRequest, 'thinking' | 'output_config'>): Effort | undefined {
  const effort = output_config?.effort ?? undefined
  switch (thinking?.type) {
    case 'disabled':
      return 'none'
    case 'enabled':
      return effort ?? effortForBudget(thinking.budget_tokens ?? 0)
    case 'adaptive':
    case 'between_tools':
      return effort ?? 'high'
    default:
      return effort
  }
}

/** The largest budgets of the efforts, in tokens: a larger one is the next effort. */
const budgets: readonly (readonly [maxTokens: number, effort: Effort])[] = [
  [1536, 'minimal'],
  [5000, 'low'],
  [13_000, 'medium'],
  [24_000, 'high'],
  [48_000, 'xhigh'],
]

function effortForBudget(tokens: number): Effort {
  return budgets.find(([maxTokens]) => tokens <= maxTokens)?.[1] ?? 'max'
}
