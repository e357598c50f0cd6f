import type { Generation, Tool, ToolChoice } from '../../../domain/generation/request.ts'
import type { Body, Target, Warn } from '../protocol.ts'
import type { Dialect } from './dialect.ts'
import { familyOf } from './models.ts'
import { renderContents, signSteps } from './render-contents.ts'
import { renderFormat } from './render-format.ts'
import { renderThinking } from './thinking.ts'
import { warnUnsupported } from './unsupported.ts'

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
  return withoutUndefined(body)
}

function renderConfig(generation: Generation, target: Target, warn: Warn): Body {
  return {
    temperature: generation.temperature,
    topP: generation.topP,
    maxOutputTokens: renderLimit(generation, target, warn),
    candidateCount: generation.choices,
    stopSequences: generation.stop,
    seed: renderSeed(generation, target, warn),
    presencePenalty: generation.presencePenalty,
    frequencyPenalty: generation.frequencyPenalty,
  }
}

/** Lowers the limit to the maximum of the model: Gemini rejects a higher one. */
function renderLimit({ maxTokens }: Generation, target: Target, warn: Warn): number | undefined {
  const { model, maxOutputTokens: max } = target
  if (maxTokens === undefined || max === undefined || maxTokens <= max) return maxTokens
  warn(`\`max_tokens\` was lowered to ${max}, the maximum of ${model}.`)
  return max
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
  const fields = withoutUndefined(body)
  return Object.keys(fields).length === 0 ? undefined : fields
}

function withoutUndefined(body: Body): Body {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
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
