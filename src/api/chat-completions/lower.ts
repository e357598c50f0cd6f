import type { Format, Generation, Tool, ToolChoice } from '../../domain/generation/request.ts'
import type { LoweredRequest } from '../../gateway/models/prepare-generation.ts'
import { badRequest } from '../../lib/errors/errors.ts'
import { type Fields, fieldsBeside } from '../../lib/json/json.ts'
import { lowerMessages } from './lower-messages.ts'
import { type ChatRequest, knownProperties } from './schema.ts'

/** Providers would take hours for more, and none offers it. */
const maxChoices = 128

export type LowerOptions = {
  /** Log probabilities are supported. */
  readonly logprobs: boolean
}

/** Lowers a chat completion request. Throws 400 where its fields are valid on their own, but not together. */
export function lower(request: ChatRequest, options: LowerOptions): LoweredRequest {
  checkChoices(request.n)
  const tools = (request.tools ?? []).map(lowerTool)
  const generation: Generation = {
    messages: lowerMessages(request.messages),
    tools,
    toolChoice: lowerToolChoice(request.tool_choice, tools),
    parallelToolCalls: tools.length > 0 ? (request.parallel_tool_calls ?? undefined) : undefined,
    format: lowerFormat(request.response_format),
    maxTokens: request.max_completion_tokens ?? request.max_tokens ?? undefined,
    choices: request.n === 1 ? undefined : (request.n ?? undefined),
    stop: lowerStop(request.stop),
    temperature: request.temperature ?? undefined,
    topP: request.top_p ?? undefined,
    seed: request.seed ?? undefined,
    frequencyPenalty: request.frequency_penalty ?? undefined,
    presencePenalty: request.presence_penalty ?? undefined,
    logitBias: request.logit_bias ?? undefined,
    effort: request.reasoning_effort ?? undefined,
    serviceTier: request.service_tier ?? undefined,
    logprobs: options.logprobs ? lowerLogprobs(request) : undefined,
    user: request.user ?? undefined,
    extras: fieldsBeside(knownProperties, request) ?? noExtras,
  }
  const names = request.max_completion_tokens == null ? {} : { max_tokens: 'max_completion_tokens' }
  return { generation, names, warnings: options.logprobs ? noWarnings : warningsFor(request) }
}

function checkChoices(count: number | null | undefined): void {
  if (count == null || count <= maxChoices) return
  throw badRequest(`Invalid 'n': must be at most ${maxChoices}, not ${count}.`, 'unsupported_value', 'n')
}

function lowerTool(tool: NonNullable<ChatRequest['tools']>[number]): Tool {
  const { name, description, parameters, ...rest } = tool.function
  const strict = (rest as Fields).strict
  return {
    name,
    description: description ?? undefined,
    parameters: parameters ?? undefined,
    strict: typeof strict === 'boolean' ? strict : undefined,
  }
}

function lowerToolChoice(choice: ChatRequest['tool_choice'], tools: readonly Tool[]): ToolChoice | undefined {
  if (choice == null) return undefined
  if (tools.length === 0) {
    if (choice === 'none' || choice === 'auto') return undefined
    throw badRequest(
      "Invalid 'tool_choice': allowed only when 'tools' has at least one tool.",
      'invalid_value',
      'tool_choice',
    )
  }
  if (typeof choice === 'string') return choice
  const { name } = choice.function
  if (tools.some((tool) => tool.name === name)) return { name }
  const message = "Invalid 'tool_choice.function.name': must be the name of a function in 'tools'."
  throw badRequest(message, 'invalid_value', 'tool_choice.function.name')
}

function lowerFormat(format: ChatRequest['response_format']): Format | undefined {
  if (format == null) return undefined
  if (format.type !== 'json_schema') return { type: format.type }
  const { name, schema, strict, ...rest } = format.json_schema
  const { description } = rest as Fields
  return {
    type: 'json_schema',
    name,
    schema,
    strict: strict ?? undefined,
    description: typeof description === 'string' ? description : undefined,
  }
}

function lowerStop(stop: ChatRequest['stop']): readonly string[] | undefined {
  const list = typeof stop === 'string' ? [stop] : (stop ?? [])
  return list.length === 0 ? undefined : list
}

function lowerLogprobs({ logprobs, top_logprobs: alternatives }: ChatRequest): Generation['logprobs'] {
  if (logprobs) return { alternatives: alternatives ?? undefined }
  if (!alternatives) return undefined
  const message = "Invalid 'top_logprobs': it requires 'logprobs' to be true."
  throw badRequest(message, 'invalid_value', 'top_logprobs')
}

const noExtras: Fields = {}
const noWarnings: readonly string[] = []

function warningsFor(request: ChatRequest): readonly string[] {
  if (!request.logprobs && !request.top_logprobs) return noWarnings
  return ['Log probabilities are not supported; `logprobs` is null in every choice.']
}
