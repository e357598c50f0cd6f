import type { Generation, Tool, ToolChoice } from '../../../domain/generation/request.ts'
import type { Target, Warn } from '../protocol.ts'
import type { Traits } from './models.ts'
import { answerTool, type FormatPlan, renderAnswerTool } from './response-format.ts'
import { closeSchema } from './schema.ts'

/** The tools that the model may call, and whether it has to. */
export type Tools = { readonly tools?: readonly unknown[]; readonly tool_choice?: Choice }

type Choice = {
  readonly type: 'auto' | 'any' | 'tool' | 'none'
  readonly name?: string
  readonly disable_parallel_tool_use?: true
}

/** The tools of the request, with the one that stands for the answer where the plan needs it. */
export function renderTools(
  generation: Generation,
  plan: FormatPlan,
  traits: Traits,
  target: Target,
  warn: Warn,
): Tools {
  const tools = generation.tools.map((tool) => renderTool(tool, traits, target, warn))
  if (plan.by === 'tool' && !callForced(generation.toolChoice)) {
    return { tools: [...tools, renderAnswerTool(plan.format)], tool_choice: choiceOfAnswer(generation) }
  }
  if (tools.length === 0) return toolsOfThePast(generation)
  return { tools, tool_choice: choiceFor(generation, traits, target, warn) }
}

/** True where the model has to call a tool. */
export function forcesCall({ tool_choice: choice }: Tools): boolean {
  return choice?.type === 'any' || choice?.type === 'tool'
}

function renderTool(tool: Tool, traits: Traits, target: Target, warn: Warn): unknown {
  const { name, description, parameters, strict } = tool
  const schema = { properties: {}, ...parameters, type: 'object' }
  if (strict !== true) return { name, description, input_schema: schema }
  if (traits.schemas) return { name, description, input_schema: closeSchema(schema, warn), strict }
  warn({ what: 'Property', name: 'strict', within: 'tools[].function.', by: target.model })
  return { name, description, input_schema: schema }
}

/** The caller wants a tool call, which is no answer in any form. */
function callForced(choice: ToolChoice | undefined): boolean {
  return choice === 'required' || typeof choice === 'object'
}

/** A model that has other tools may still call them before it answers. */
function choiceOfAnswer({ tools, toolChoice, parallelToolCalls }: Generation): Choice {
  const free = tools.length > 0 && toolChoice !== 'none'
  const single = !free || parallelToolCalls === false ? ({ disable_parallel_tool_use: true } as const) : {}
  return free ? { type: 'any', ...single } : { type: 'tool', name: answerTool, ...single }
}

/** The calls of a conversation are refused where no tools are named. */
function toolsOfThePast({ messages }: Generation): Tools {
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? message.toolCalls : []))
  const names = [...new Set(calls.map((call) => call.name))]
  if (names.length === 0) return {}
  const tools = names.map((name) => ({ name, input_schema: { type: 'object', properties: {} } }))
  return { tools, tool_choice: { type: 'none' } }
}

function choiceFor(
  { toolChoice, parallelToolCalls }: Generation,
  traits: Traits,
  target: Target,
  warn: Warn,
): Choice | undefined {
  const single = parallelToolCalls === false ? ({ disable_parallel_tool_use: true } as const) : {}
  if (toolChoice === undefined) return parallelToolCalls === false ? { type: 'auto', ...single } : undefined
  if (toolChoice === 'none') return { type: 'none' }
  if (toolChoice === 'auto') return { type: 'auto', ...single }
  if (traits.neverForced) {
    warn(`${target.model} cannot be made to call a tool; tool_choice auto was used.`)
    return { type: 'auto', ...single }
  }
  return toolChoice === 'required'
    ? { type: 'any', ...single }
    : { type: 'tool', name: toolChoice.name, ...single }
}
