import type { Format, Generation, Tool, ToolChoice } from '../../../domain/generation/request.ts'
import { withoutEmpty } from '../../../lib/json/json.ts'
import type { Body, Target, Warn } from '../protocol.ts'
import { describedSchema, renderMaxTokens, warnOfFields, warnOfUsed } from '../rendering.ts'
import { type Dialect, type Family, familyOf, renderThinking } from './models.ts'
import { renderContents, signSteps } from './render-contents.ts'

/** Renders the body of a `generateContent` request; its path contains the model and the method. */
export function renderRequest(dialect: Dialect, generation: Generation, target: Target, warn: Warn): Body {
  const family = familyOf(target.model)
  const format = renderFormat(generation, family, target, warn)
  const { turns, instructions } = renderContents(generation, dialect, warn)
  const instruction = format.instruction === undefined ? [] : [{ text: format.instruction }]
  const system = [...instructions, ...instruction]
  const config = { ...renderConfig(generation, target, warn), ...format.fields }
  const thinkingConfig = renderThinking(generation.effort, family, target, warn)
  warnUnsupported(generation, dialect, warn)
  const body = {
    contents: family.signed ? signSteps(turns, dialect, warn) : turns,
    systemInstruction: system.length === 0 ? undefined : { parts: system },
    generationConfig: nonEmpty({ ...config, thinkingConfig }),
    ...renderTools(generation),
    serviceTier: dialect.serviceTier ? renderTier(generation.serviceTier) : undefined,
  }
  return withoutEmpty(body)
}

function renderConfig(generation: Generation, target: Target, warn: Warn): Body {
  return {
    temperature: generation.temperature,
    topP: generation.topP,
    maxOutputTokens: renderMaxTokens(generation.maxTokens, target.maxOutputTokens, target, warn),
    candidateCount: generation.choices,
    stopSequences: generation.stop,
    seed: renderSeed(generation, target, warn),
    presencePenalty: generation.presencePenalty,
    frequencyPenalty: generation.frequencyPenalty,
  }
}

/** Gemini's seed is an integer of 32 bits. */
function renderSeed({ seed }: Generation, { model }: Target, warn: Warn): number | undefined {
  if (seed === undefined || (Math.trunc(seed) === seed && Math.abs(seed) < 2 ** 31)) return seed
  warn(`Values of \`seed\` beyond 32 bits are not supported by ${model}, so it was ignored.`)
  return undefined
}

function renderTier(tier: Generation['serviceTier']): string | undefined {
  return tier === 'flex' || tier === 'priority' ? tier : undefined
}

function nonEmpty(body: Body): Body | undefined {
  const fields = withoutEmpty(body)
  return Object.keys(fields).length === 0 ? undefined : fields
}

/** Renders the tools and the tool choice. */
function renderTools({ tools, toolChoice }: Generation): Body {
  if (tools.length === 0) return {}
  return {
    tools: [{ functionDeclarations: tools.map(renderTool) }],
    toolConfig: toolChoice && { functionCallingConfig: renderChoice(toolChoice) },
  }
}

function renderTool({ name, description, parameters }: Tool): Body {
  return { name, description, parametersJsonSchema: parameters }
}

const modes = { auto: 'AUTO', none: 'NONE', required: 'ANY' } as const

function renderChoice(choice: ToolChoice): Body {
  if (typeof choice === 'string') return { mode: modes[choice] }
  return { mode: 'ANY', allowedFunctionNames: [choice.name] }
}

/** The response format: fields of the request, or an instruction in the prompt. */
type RenderedFormat = { readonly fields: Body; readonly instruction?: string }

/** Renders the response format; older models reject its fields together with tools. */
function renderFormat(
  { format, tools }: Generation,
  family: Family,
  { model }: Target,
  warn: Warn,
): RenderedFormat {
  if (!format || format.type === 'text') return { fields: {} }
  if (tools.length === 0 || family.schemaBesideTools) return { fields: renderFields(format) }
  warn(
    `\`response_format\` together with tools is not supported by ${model}; the model was instructed in the prompt instead.`,
  )
  return { fields: {}, instruction: formatInstruction(format) }
}

type Structured = Exclude<Format, { readonly type: 'text' }>

function renderFields(format: Structured): Body {
  const responseMimeType = 'application/json'
  if (format.type === 'json_object') return { responseMimeType }
  return { responseMimeType, responseJsonSchema: describedSchema(format) }
}

function formatInstruction(format: Structured): string {
  const rule = 'Your final answer, once you call no more tools, must be one JSON object and nothing else.'
  if (format.type === 'json_object') return rule
  const { description = '', schema } = format
  return [rule, description, `It must follow this JSON Schema:\n${JSON.stringify(schema)}`]
    .filter(Boolean)
    .join(' ')
}

/** Warns of the parameters of the request that Gemini does not support. */
function warnUnsupported(generation: Generation, { name: by, serviceTier }: Dialect, warn: Warn): void {
  warnOfFields(generation.extras, { what: 'Parameter', by }, warn)
  const { logitBias = {}, logprobs, user, parallelToolCalls, serviceTier: tier, tools } = generation
  const used = {
    logit_bias: Object.keys(logitBias).length > 0,
    logprobs: logprobs !== undefined,
    user: user !== undefined,
    parallel_tool_calls: parallelToolCalls === false && tools.length > 0,
  }
  warnOfUsed(used, by, warn)
  if (!serviceTier && (tier === 'flex' || tier === 'priority')) warn({ what: 'Service tier', name: tier, by })
  if (tools.some((tool) => tool.strict === true))
    warn({ what: 'Property', name: 'strict', within: 'tools[].function.', by })
}
