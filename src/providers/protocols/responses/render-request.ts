import type { Format, Generation, Tool, ToolChoice } from '../../../domain/generation/request.ts'
import type { Body, Target, Warn } from '../protocol.ts'
import { renderUser } from '../user.ts'
import { effortFor, encryptsReasoning, fixesSampling } from './models.ts'
import { renderInput } from './render-input.ts'
import { warnUnsupported } from './unsupported.ts'

/** Renders the body of a Responses request; the provider stores nothing. */
export function renderRequest(generation: Generation, target: Target, warn: Warn): Body {
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
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined && value !== null))
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

/** OpenAI rejects a lower limit, which clients send to test whether a model responds. */
const minOutputTokens = 16

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
