import type { Parameter } from '../../../domain/generation/parameters.ts'
import type { Format, Generation, Message, Tool, ToolChoice } from '../../../domain/generation/request.ts'
import { type Fields, fieldsBeside, withoutEmpty } from '../../../lib/json/json.ts'
import { type Body, collectWarnings, type Protocol, type Target, type Warn } from '../protocol.ts'
import { renderUser, warnOfFields, warnOfUsed } from '../rendering.ts'
import { parseError } from './metadata.ts'
import { effortFor, encryptsReasoning, fixesSampling } from './models.ts'
import { parseResponse, streamParser, type StreamState } from './parse-response.ts'
import { renderInput, responsesApi } from './render-input.ts'

const supportedParameters: readonly Parameter[] = [
  'temperature',
  'top_p',
  'max_tokens',
  'tools',
  'tool_choice',
  'response_format',
  'reasoning_effort',
  'parallel_tool_calls',
]

/** OpenAI rejects a lower limit, which clients send to test whether a model responds. */
const minOutputTokens = 16

/** The protocol of the Responses API, used without state: each request contains the conversation and stores nothing. */
export const responses: Protocol<StreamState> = {
  name: 'responses',
  parameters: new Set(supportedParameters),
  minOutputTokens,
  render: collectWarnings(renderRequest),
  parse: parseResponse,
  stream: streamParser,
  parseError,
}

/** Renders the body of a Responses request; the provider stores nothing. */
function renderRequest(generation: Generation, target: Target, warn: Warn): Body {
  warnUnsupported(generation, warn)
  const body = {
    model: target.model,
    input: renderInput(generation.messages, warn),
    store: false,
    stream: target.stream ? true : undefined,
    ...renderTools(generation, target),
    text: renderText(generation),
    max_output_tokens: renderLimit(generation.maxTokens, warn),
    reasoning: renderReasoning(generation, target, warn),
    ...renderSampling(generation, target, warn),
    service_tier: generation.serviceTier,
    user: renderUser(generation),
    prompt_cache_key: generation.extras.prompt_cache_key,
    safety_identifier: generation.extras.safety_identifier,
  }
  return withoutEmpty(body)
}

function renderTools(generation: Generation, target: Target): Body {
  if (generation.tools.length === 0) return {}
  return {
    tools: generation.tools.map(renderTool),
    tool_choice: generation.toolChoice && renderToolChoice(generation.toolChoice),
    parallel_tool_calls: generation.parallelToolCalls,
    // Without tools there is no next turn that needs it.
    include: encryptsReasoning(target) ? ['reasoning.encrypted_content'] : undefined,
  }
}

/** The Responses API defaults to strict schemas, and chat completions do not. */
function renderTool(tool: Tool): Body {
  const { name, description, parameters = noParameters, strict = false } = tool
  return { type: 'function', name, description, parameters, strict }
}

const noParameters = { type: 'object', properties: {}, additionalProperties: false }

function renderToolChoice(choice: ToolChoice): unknown {
  return typeof choice === 'string' ? choice : { type: 'function', name: choice.name }
}

function renderText(generation: Generation): Body | undefined {
  const format = generation.format && renderFormat(generation.format)
  const verbosity = generation.extras.verbosity ?? undefined
  return format || verbosity !== undefined ? { format, verbosity } : undefined
}

function renderFormat(format: Format): Body | undefined {
  if (format.type === 'text') return undefined
  if (format.type === 'json_object') return { type: 'json_object' }
  const { type, name, description, schema, strict = false } = format
  return { type, name, description, schema, strict }
}

function renderLimit(limit: number | undefined, warn: Warn): number | undefined {
  if (limit === undefined || limit >= minOutputTokens) return limit
  warn(`\`max_tokens\` was raised to ${minOutputTokens}, the minimum of the Responses API.`)
  return minOutputTokens
}

/**
 * Requests a summary only together with an effort: OpenAI rejects it for unverified organizations, and a request
 * without reasoning parameters must not fail for that.
 */
function renderReasoning(generation: Generation, target: Target, warn: Warn): Body | undefined {
  if (generation.effort === undefined) return undefined
  const effort = effortFor(generation.effort, target)
  if (effort === undefined) {
    warn({ what: 'Parameter', name: 'reasoning_effort', by: target.model })
    return undefined
  }
  return effort === 'none' ? { effort } : { effort, summary: 'auto' }
}

function renderSampling(generation: Generation, target: Target, warn: Warn): Body {
  const { temperature, topP: top_p } = generation
  if (!fixesSampling(target, generation.effort)) return { temperature, top_p }
  for (const [name, value] of Object.entries({ temperature, top_p })) {
    if (value !== undefined && value !== 1) warn({ what: 'Parameter', name, by: target.model })
  }
  return {}
}

function warnUnsupported(generation: Generation, warn: Warn): void {
  const { choices = 1, stop = [], frequencyPenalty = 0, presencePenalty = 0, logitBias } = generation
  const used = {
    n: choices > 1,
    stop: stop.length > 0,
    seed: generation.seed !== undefined,
    frequency_penalty: frequencyPenalty !== 0,
    presence_penalty: presencePenalty !== 0,
    logit_bias: Object.keys(withoutEmpty(logitBias ?? {})).length > 0,
    logprobs: generation.logprobs !== undefined,
  }
  warnOfUsed(used, responsesApi, warn)
  const others = fieldsBeside(supportedExtras, generation.extras)
  warnOfFields(others, { what: 'Parameter', by: responsesApi }, warn)
  for (const message of generation.messages) warnOfMessage(message, warn)
}

/** The extra properties that the Responses API supports, the last of them inside `text`. */
const supportedExtras: ReadonlySet<string> = new Set(['prompt_cache_key', 'safety_identifier', 'verbosity'])

function warnOfMessage({ extras, name, parts }: Message, warn: Warn): void {
  if (name !== undefined) warnOfProperties({ name }, 'messages[].', warn)
  warnOfProperties(extras, 'messages[].', warn)
  for (const part of parts)
    if (part.type !== 'foreign') warnOfProperties(part.extras, 'messages[].content[].', warn)
}

function warnOfProperties(fields: Fields | undefined, within: string, warn: Warn): void {
  warnOfFields(fields, { what: 'Property', within, by: responsesApi }, warn)
}
