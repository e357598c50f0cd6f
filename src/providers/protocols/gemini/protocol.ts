import type { GenerationEvent } from '../../../domain/generation/events.ts'
import { parameters } from '../../../domain/generation/parameters.ts'
import type { Format, Generation, Tool, ToolChoice } from '../../../domain/generation/request.ts'
import { fieldsOf, isObject, listOf, withoutEmpty } from '../../../lib/json/json.ts'
import { noStream, readEmbeddings } from '../embeddings.ts'
import { hasError } from '../error.ts'
import { failure } from '../parsing.ts'
import { type Body, collectWarnings, type Protocol, type Target, type Warn } from '../protocol.ts'
import { describedSchema, renderMaxTokens, warnOfFields, warnOfUsed } from '../rendering.ts'
import { parseError, parseUsage } from './metadata.ts'
import { type Dialect, type Family, familyOf, renderThinking } from './models.ts'
import { parseResponse, streamParser, type StreamState } from './parse-response.ts'
import { renderContents, signSteps } from './render-contents.ts'

/** The `generateContent` protocol of Google's models, in one of its dialects. */
export function gemini(dialect: Dialect): Protocol<StreamState> {
  return {
    name: 'gemini',
    parameters: new Set(parameters.filter((name) => !unsupportedParameters.has(name))),
    inlineImages: true,
    render: collectWarnings((generation, target, warn) => renderRequest(dialect, generation, target, warn)),
    parse: parseResponse,
    stream: streamParser,
    parseError,
  }
}

const unsupportedParameters: ReadonlySet<string> = new Set(['logit_bias', 'parallel_tool_calls'])

/** The `batchEmbedContents` protocol of Google's models. */
export const geminiEmbeddings: Protocol<null> = {
  name: 'gemini-embeddings',
  parameters: new Set(),
  render: collectWarnings(renderEmbeddings),
  parse: parseEmbeddings,
  embeddingName: 'values',
  stream: noStream,
  parseError,
}

function renderEmbeddings(generation: Generation, target: Target, warn: Warn): Body {
  const { inputs = [], embedding, extras, user } = generation
  warnOfFields({ ...extras, user }, { what: 'Parameter', by: 'gemini' }, warn)
  const model = target.model.includes('/') ? target.model : `models/${target.model}`
  const texts = inputs.filter((input) => typeof input === 'string')
  return { requests: texts.map((text) => renderText(text, model, embedding?.dimensions)) }
}

function renderText(text: string, model: string, dimensions: number | undefined): Body {
  return { model, content: { parts: [{ text }] }, outputDimensionality: dimensions }
}

function parseEmbeddings(body: unknown, generation?: Generation): GenerationEvent[] {
  if (!isObject(body) || hasError(body) || !Array.isArray(body.embeddings)) return [failure(parseError(body))]
  const received = listOf(body.embeddings).map((item) => ({ embedding: fieldsOf(item).values }))
  // Not all models report it.
  return readEmbeddings(received, parseUsage(body.usageMetadata)?.promptTokens, generation)
}

/** Renders the body of a `generateContent` request; its path contains the model and the method. */
function renderRequest(dialect: Dialect, generation: Generation, target: Target, warn: Warn): Body {
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
