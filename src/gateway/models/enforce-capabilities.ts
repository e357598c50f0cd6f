import { type Parameter, parameters, toParameters } from '../../domain/generation/parameters.ts'
import { type Effort, efforts, type Generation } from '../../domain/generation/request.ts'
import { unsupportedSentence } from '../../domain/generation/warnings.ts'
import { unsupportedParameter } from '../../lib/errors/errors.ts'
import type { Model } from './model.ts'
import type { Models } from './models.ts'
import { requireAllowed } from './require-model.ts'

export type CapabilityOptions = {
  /** The treatment of a parameter that the model does not support. */
  readonly unsupported: 'reject' | 'drop'
  /** The API's own names of parameters, where they differ. */
  readonly names: Partial<Record<Parameter, string>>
  /** Parameters that are dropped in any case. */
  readonly droppable?: ReadonlySet<Parameter> | undefined
  readonly warn: (message: string) => void
}

/**
 * Returns the generation as the model supports it; an unsupported parameter is rejected, or dropped with a
 * warning.
 */
export function enforceCapabilities(
  generation: Generation,
  model: Model,
  options: CapabilityOptions,
): Generation {
  const unsupported = parameters.filter(
    (parameter) => isSet(generation, parameter) && !model.supportedParameters.has(parameter),
  )
  const rejected = unsupported.filter((parameter) => !isNoOp(generation, parameter))
  if (rejected.length > 0) rejectOrWarn(rejected, generation, model, options)
  return withSupportedTier(
    withSupportedEffort(withoutParameters(generation, unsupported), model, options),
    model,
    options,
  )
}

function rejectOrWarn(
  rejected: readonly Parameter[],
  generation: Generation,
  model: Model,
  options: CapabilityOptions,
): void {
  const nameOf = (parameter: Parameter) => options.names[parameter] ?? parameter
  const name = rejected.filter((parameter) => !isDroppable(parameter, generation, options)).map(nameOf)[0]
  if (options.unsupported === 'drop' || name === undefined)
    return options.warn(unsupportedSentence({ what: 'Parameter', by: model.slug }, rejected.map(nameOf)))
  throw unsupportedParameter(`Unsupported parameter: '${name}' is not supported by ${model.slug}.`, name)
}

/**
 * Clients that force a tool call to get structured output limit the calls to one, whatever the model: they use the first
 * call, and more of them change nothing.
 */
function isDroppable(
  parameter: Parameter,
  { toolChoice }: Generation,
  { droppable }: CapabilityOptions,
): boolean {
  if (parameter === 'parallel_tool_calls') return toolChoice === 'required' || typeof toolChoice === 'object'
  return droppable?.has(parameter) === true
}

const fields = {
  temperature: 'temperature',
  top_p: 'topP',
  max_tokens: 'maxTokens',
  n: 'choices',
  stop: 'stop',
  tools: 'tools',
  tool_choice: 'toolChoice',
  response_format: 'format',
  seed: 'seed',
  frequency_penalty: 'frequencyPenalty',
  presence_penalty: 'presencePenalty',
  logit_bias: 'logitBias',
  reasoning_effort: 'effort',
  parallel_tool_calls: 'parallelToolCalls',
} as const satisfies Record<Parameter, keyof Generation>

function isSet(generation: Generation, parameter: Parameter): boolean {
  const value = generation[fields[parameter]]
  return value !== undefined && !(parameter === 'tools' && generation.tools.length === 0)
}

/** Whether the value equals the default behaviour: clients send it to every model. */
function isNoOp(generation: Generation, parameter: Parameter): boolean {
  switch (parameter) {
    case 'temperature':
    case 'top_p':
      return generation[fields[parameter]] === 1
    case 'frequency_penalty':
    case 'presence_penalty':
      return generation[fields[parameter]] === 0
    case 'logit_bias':
      return Object.keys(generation.logitBias ?? {}).length === 0
    case 'response_format':
      return generation.format?.type === 'text'
    case 'reasoning_effort':
      return generation.effort === 'none'
    case 'tool_choice':
      return generation.toolChoice === 'auto'
    case 'parallel_tool_calls':
      return generation.parallelToolCalls === true || generation.tools.length === 0
    default:
      return false
  }
}

function withoutParameters(generation: Generation, unsupported: readonly Parameter[]): Generation {
  if (unsupported.length === 0) return generation
  const removed = Object.fromEntries(unsupported.map((parameter) => [fields[parameter], undefined]))
  if (!unsupported.includes('tools')) return { ...generation, ...removed }
  return { ...generation, ...removed, tools: [], toolChoice: undefined, parallelToolCalls: undefined }
}

/** A tier that costs more is not requested if its price is unknown. */
function withSupportedTier(generation: Generation, model: Model, options: CapabilityOptions): Generation {
  if (generation.serviceTier !== 'priority' || model.fast?.strategy === 'service_tier') return generation
  options.warn(unsupportedSentence({ what: 'Service tier', by: model.slug }, ['priority']))
  return { ...generation, serviceTier: undefined }
}

/** Uses the nearest effort that the model supports, a lower one first. */
function withSupportedEffort(generation: Generation, model: Model, options: CapabilityOptions): Generation {
  const { effort } = generation
  const supported = model.reasoning?.supported_efforts ?? []
  if (isSentAsWritten(generation, model)) return generation
  if (effort === undefined || supported.length === 0 || supported.includes(effort)) return generation
  const nearest = nearestEffort(effort, supported)
  options.warn(
    `Reasoning effort \`${effort}\` is not supported by ${model.slug}; \`${nearest}\` was used instead.`,
  )
  return { ...generation, effort: nearest }
}

/** Whether every provider of the model receives the request as the caller wrote it. */
function isSentAsWritten({ source }: Generation, { routes }: Model): boolean {
  return (
    source !== undefined &&
    routes.every(({ provider: { kind } }) => 'protocol' in kind && kind.protocol.name === source.protocol)
  )
}

function nearestEffort(effort: Effort, supported: readonly Effort[]): Effort {
  const requested = efforts.indexOf(effort)
  // A request for some reasoning does not become one for none.
  const candidates = effort === 'none' ? supported : supported.filter((other) => other !== 'none')
  const byDistance = candidates.toSorted((a, b) => distance(a) - distance(b))
  // Adds half a step to those above: of two equally near, the lower one costs less.
  function distance(other: Effort): number {
    const steps = efforts.indexOf(other) - requested
    return steps > 0 ? steps + 0.5 : -steps
  }
  return byDistance[0] ?? supported[0] ?? effort
}

/** How a request in fast mode is served. */
type FastModeTarget = {
  /**
   * The model that serves the request; a variant has the prices of the fast mode, a service tier is priced by
   * what was served.
   */
  readonly model: Model
  readonly serviceTier?: 'priority'
}

/** How `performance_mode: fast` is served for the model; throws the 400 if it has no fast mode. */
export function resolveFastMode(models: Models, model: Model): FastModeTarget {
  const { fast } = model
  const target = fast?.strategy === 'model_variant' ? models.find(fast.target_slug) : model
  if (fast === undefined || target === undefined || target.disabled !== undefined) {
    const message = `Unsupported parameter: 'performance_mode' 'fast' is not supported by ${model.slug}.`
    throw unsupportedParameter(message, 'performance_mode')
  }
  requireAllowed(models, target)
  const supportedParameters = fast.supported_parameters
    ? toParameters(fast.supported_parameters)
    : target.supportedParameters
  if (fast.strategy === 'service_tier')
    return { model: { ...target, supportedParameters }, serviceTier: fast.service_tier }
  return { model: { ...target, pricing: fast.pricing, supportedParameters } }
}
