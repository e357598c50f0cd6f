import type { Generation, ProviderTool, Tool, ToolChoice } from '../../domain/generation/request.ts'
import { badRequest } from '../../lib/errors/errors.ts'
import { type Fields, fieldsOf, isObject, listOf } from '../../lib/json/json.ts'
import type { AnthropicTool, CountTokensRequest, CustomTool } from './schema.ts'

type ToolFields = Pick<Generation, 'tools' | 'providerTools' | 'toolChoice' | 'parallelToolCalls'>

/** Lowers the tools of any kind, and the choice among them; throws 400 for a choice that names no tool. */
export function lowerTools(request: CountTokensRequest): ToolFields {
  const all = request.tools ?? []
  const tools = all.filter(isCustom).map(lowerTool)
  const providerTools = [...all.flatMap(toProviderTool), ...connectedTools(request)]
  const names = new Set(all.map(nameOf))
  const parallel = request.tool_choice?.disable_parallel_tool_use === true ? false : undefined
  return {
    tools,
    providerTools: providerTools.length > 0 ? providerTools : undefined,
    toolChoice: lowerChoice(request.tool_choice, names),
    parallelToolCalls: tools.length > 0 ? parallel : undefined,
  }
}

type AnyTool = CustomTool | AnthropicTool

/** Whether the caller has defined the tool. */
export function isCustom(tool: AnyTool): tool is CustomTool {
  return tool.type == null || tool.type === 'custom'
}

function nameOf(tool: AnyTool): string {
  return 'name' in tool && typeof tool.name === 'string' ? tool.name : (tool.type ?? '')
}

function lowerTool({ name, description, input_schema, strict }: CustomTool): Tool {
  return {
    name,
    description: description ?? undefined,
    parameters: input_schema,
    strict: strict == null ? undefined : strict && isStrictSchema(input_schema),
  }
}

/** Tools that the caller runs, or that cost nothing beyond their tokens. Any other may be charged for. */
const unhosted = /^(bash|text_editor|computer|browser|memory|tool_search_tool)_/

function toProviderTool(tool: AnyTool, index: number): readonly ProviderTool[] {
  if (isCustom(tool)) return []
  const hosted = !unhosted.test(tool.type)
  return [{ protocol: 'anthropic', name: tool.type, param: `tools[${index}]`, hosted }]
}

/** The servers, and the container with skills, that the provider connects the model to, beside the tools. */
function connectedTools({ mcp_servers, container }: CountTokensRequest): readonly ProviderTool[] {
  const names = [
    ...(mcp_servers != null && mcp_servers.length > 0 ? ['mcp_servers'] : []),
    ...(container == null ? [] : ['container']),
  ]
  return names.map((name) => ({ protocol: 'anthropic', name, param: name, hosted: true }))
}

function lowerChoice(
  choice: CountTokensRequest['tool_choice'],
  names: ReadonlySet<string>,
): ToolChoice | undefined {
  if (choice == null) return undefined
  if (names.size === 0) {
    if (choice.type === 'none' || choice.type === 'auto') return undefined
    throw invalidChoice("it requires at least one tool in 'tools'", 'tool_choice')
  }
  if (choice.type === 'any') return 'required'
  if (choice.type !== 'tool') return choice.type
  const { name } = choice
  if (name == null || !names.has(name))
    throw invalidChoice("'tools' has no tool of that name", 'tool_choice.name')
  return { name }
}

function invalidChoice(reason: string, param: string): Error {
  return badRequest(`Invalid '${param}': ${reason}.`, 'invalid_value', param)
}

/** A schema that nests deeper is not worth the search. */
const maxDepth = 40

/**
 * Whether every provider with strict schemas accepts the schema as a strict one: each object requires all of its
 * properties, and allows no others. Anthropic also accepts optional properties.
 */
export function isStrictSchema(schema: unknown, depth = 0): boolean {
  if (!isObject(schema)) return true
  if (depth > maxDepth) return false
  return isStrictObject(schema) && childrenOf(schema).every((child) => isStrictSchema(child, depth + 1))
}

function isStrictObject({ type, properties, required, additionalProperties }: Fields): boolean {
  if (type !== 'object' && properties === undefined) return true
  const names = new Set(listOf(required))
  return additionalProperties === false && Object.keys(fieldsOf(properties)).every((name) => names.has(name))
}

function childrenOf({ properties, $defs, definitions, items, anyOf }: Fields): readonly unknown[] {
  const named = [properties, $defs, definitions].flatMap((schemas) => Object.values(fieldsOf(schemas)))
  return [...named, items, ...listOf(anyOf)]
}
