import type { Generation, Tool, ToolChoice } from '../../../domain/generation/request.ts'
import type { Fields } from '../../../lib/json/json.ts'
import type { Target, Warn } from '../protocol.ts'
import { describedSchema, type SchemaFormat } from '../rendering.ts'
import type { Traits } from './models.ts'
import { closeSchema } from './schema.ts'

/** The tools of a request, and the tool choice. */
type Tools = { readonly tools?: readonly unknown[]; readonly tool_choice?: Choice }

type Choice = {
  readonly type: 'auto' | 'any' | 'tool' | 'none'
  readonly name?: string
  readonly disable_parallel_tool_use?: true
}

/** Renders the tools of the request, with the output tool where the plan needs it. */
export function renderTools(
  generation: Generation,
  plan: FormatPlan,
  traits: Traits,
  target: Target,
  warn: Warn,
): Tools {
  const tools = generation.tools.map((tool) => renderTool(tool, traits, target, warn))
  if (plan.by === 'tool' && !isCallForced(generation.toolChoice)) {
    return { tools: [...tools, renderOutputTool(plan.format)], tool_choice: outputToolChoice(generation) }
  }
  if (tools.length === 0) return pastTools(generation)
  return { tools, tool_choice: choiceFor(generation, traits, target, warn) }
}

/** True where the model is forced to call a tool. */
export function forcesCall({ tool_choice: choice }: Tools): boolean {
  return choice?.type === 'any' || choice?.type === 'tool'
}

function renderTool(tool: Tool, traits: Traits, target: Target, warn: Warn): unknown {
  const { name, description, parameters, strict } = tool
  const schema = { properties: {}, ...parameters, type: 'object' }
  if (strict !== true) return { name, description, input_schema: schema }
  if (traits.supportsSchemas) return { name, description, input_schema: closeSchema(schema, warn), strict }
  warn({ what: 'Property', name: 'strict', within: 'tools[].function.', by: target.model })
  return { name, description, input_schema: schema }
}

/** True where the request forces a tool call, to which the response format does not apply. */
function isCallForced(choice: ToolChoice | undefined): boolean {
  return choice === 'required' || typeof choice === 'object'
}

/** The model may call its other tools before the output tool. */
function outputToolChoice({ tools, toolChoice, parallelToolCalls }: Generation): Choice {
  const mayCallOthers = tools.length > 0 && toolChoice !== 'none'
  const single =
    !mayCallOthers || parallelToolCalls === false ? ({ disable_parallel_tool_use: true } as const) : {}
  return mayCallOthers ? { type: 'any', ...single } : { type: 'tool', name: outputTool, ...single }
}

/** Anthropic rejects a conversation with tool calls unless the request declares tools. */
function pastTools({ messages }: Generation): Tools {
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
  if (traits.rejectsForcedCalls) {
    warn(`Forced tool calls are not supported by ${target.model}; \`tool_choice\` \`auto\` was used instead.`)
    return { type: 'auto', ...single }
  }
  return toolChoice === 'required'
    ? { type: 'any', ...single }
    : { type: 'tool', name: toolChoice.name, ...single }
}

/** The way in which the model is made to use the requested response format. */
export type FormatPlan =
  | { readonly by: 'nothing' }
  /** Structured output with the schema. */
  | { readonly by: 'schema'; readonly schema: Fields }
  /** A tool whose arguments are the output. */
  | { readonly by: 'tool'; readonly format: SchemaFormat }
  /** An instruction in the prompt. */
  | { readonly by: 'prompt'; readonly instruction: string }

/** Chooses the way for the format of the generation. */
export function planFormat(generation: Generation, traits: Traits, target: Target, warn: Warn): FormatPlan {
  const { format } = generation
  if (!format || format.type === 'text') return { by: 'nothing' }
  if (format.type === 'json_object') {
    warn(
      '`response_format` `json_object` is not supported by anthropic; the model was instructed to return JSON instead.',
    )
    return { by: 'prompt', instruction: jsonInstruction }
  }
  if (traits.supportsSchemas) return { by: 'schema', schema: closeSchema(describedSchema(format), warn) }
  if (!traits.rejectsForcedCalls && format.schema.type === 'object') return { by: 'tool', format }
  warn(
    `JSON schemas cannot be enforced by ${target.model}; the model was instructed to follow the schema instead.`,
  )
  return { by: 'prompt', instruction: schemaInstruction(format) }
}

const jsonInstruction = 'Answer with one JSON object and nothing else: no words around it and no code fence.'

function schemaInstruction(format: SchemaFormat): string {
  return `${jsonInstruction} It must follow this JSON Schema:\n${JSON.stringify(describedSchema(format))}`
}

/**
 * The tool that a model without structured output is forced to call: its arguments are the output. The parser does not
 * know the request, so it recognizes the tool by its name.
 */
export const outputTool = 'weir__give_answer'

function renderOutputTool(format: SchemaFormat) {
  const { name, description, schema } = format
  const purpose = description === undefined ? name : `${name}: ${description}`
  return {
    name: outputTool,
    description: `Gives the answer to the user (${purpose}). Call it once, when the answer is known.`,
    input_schema: schema,
  }
}
