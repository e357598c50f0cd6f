import type { Generation, Tool, ToolChoice } from '../../../domain/generation/request.ts'
import type { Target, Warn } from '../protocol.ts'
import type { Body, Dialect } from './dialect.ts'
import { familyOf } from './models.ts'
import { renderContents, signSteps } from './render-contents.ts'
import { renderFormat } from './render-format.ts'
import { renderThinking } from './render-thinking.ts'
import { warnOfLeftOut } from './unsupported.ts'

/** The body of a `generateContent` request; the model and the streaming are in its path. */
export function renderRequest(dialect: Dialect, generation: Generation, target: Target, warn: Warn): Body {
  const family = familyOf(target.model)
  const format = renderFormat(generation, family, target, warn)
  const { turns, instructions } = renderContents(generation, dialect, warn)
  const instruction = format.instruction === undefined ? [] : [{ text: format.instruction }]
  const system = [...instructions, ...instruction]
  const config = { ...renderConfig(generation, target, warn), ...format.fields }
  const thinkingConfig = renderThinking(generation.effort, family, target, warn)
  warnOfLeftOut(generation, dialect, warn)
  const body = {
    contents: family.signed ? signSteps(turns, dialect, warn) : turns,
    systemInstruction: system.length === 0 ? undefined : { parts: system },
    generationConfig: nonEmpty({ ...config, thinkingConfig }),
    ...renderTools(generation),
    serviceTier: dialect.serviceTier ? renderTier(generation.serviceTier) : undefined,
  }
  return told(body)
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

/** More than a model can say is refused. */
function renderLimit({ maxTokens }: Generation, target: Target, warn: Warn): number | undefined {
  const { model, maxOutputTokens: most } = target
  if (maxTokens === undefined || most === undefined || maxTokens <= most) return maxTokens
  warn(`${model} says at most ${most} tokens; the limit was lowered to that.`)
  return most
}

/** A seed is a whole number of 32 bits there. */
function renderSeed({ seed }: Generation, { model }: Target, warn: Warn): number | undefined {
  if (seed === undefined || (Math.trunc(seed) === seed && Math.abs(seed) < 2 ** 31)) return seed
  warn(`A seed of more than 32 bits is not supported by ${model} and was ignored.`)
  return undefined
}

function renderTier(tier: Generation['serviceTier']): string | undefined {
  return tier === 'flex' || tier === 'priority' ? tier : undefined
}

function nonEmpty(body: Body): Body | undefined {
  const fields = told(body)
  return Object.keys(fields).length === 0 ? undefined : fields
}

function told(body: Body): Body {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
}

/** The tools on offer and whether one has to be called. */
export function renderTools({ tools, toolChoice }: Generation): Body {
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
