import { createHash } from 'node:crypto'
import type { Tool, ToolChoice } from '../../../domain/generation/request.ts'
import { badRequest, unsupportedParameter } from '../../../lib/errors/errors.ts'
import { type Fields, fieldsOf, isObject, listOf, textOf } from '../../../lib/json/json.ts'
import type { Warn } from './lower-extras.ts'

/** How a call of a tool appears in the output; models know the tool by another name if it is in a namespace. */
export type CallName = {
  readonly name: string
  readonly namespace?: string
  /** The call has free text as its input, and not JSON arguments. */
  readonly custom: boolean
}

/** A tool as models receive it, with the name of its calls. */
export type NamedTool = { readonly tool: Tool; readonly callName: CallName }

/** Whether the gateway accepts tools, and what happens to those that it does not support. */
export type ToolOptions = { readonly functionTools: boolean; readonly unsupported: 'reject' | 'drop' }

/**
 * Lowers the tools of a request, or of an item at this path: functions, custom tools, and the functions of namespaces.
 * Throws 400 for an invalid tool; a tool of another type is rejected, or dropped with a warning.
 */
export function lowerTools(
  tools: readonly Fields[] | null | undefined,
  options: ToolOptions,
  warn: Warn,
  path = 'tools',
): readonly NamedTool[] {
  if (tools == null || tools.length === 0) return []
  if (!options.functionTools) throw toolsDisabled(path)
  const lowered = tools.flatMap((tool, index) => lowerTool(tool, `${path}[${index}]`, options, warn))
  rejectDuplicates(lowered, path)
  return lowered
}

/**
 * The names of the calls of these tools, by the names that models know; the last tool of a name counts. Tools that models
 * do not receive have none.
 */
export function callNamesOf(tools: readonly Fields[]): ReadonlyMap<string, CallName> {
  const options = { functionTools: true, unsupported: 'drop' } as const
  const named = tools.flatMap((tool) => lowerTools([tool], options, () => {}))
  return new Map(named.map(({ tool, callName }) => [tool.name, callName]))
}

/** The name by which models know a tool of a namespace. */
export function flatName(namespace: string, name: string): string {
  const flat = `${namespace}${separator}${name}`.replaceAll(/[^\w-]/g, '_')
  if (flat.length <= maxNameLength) return flat
  const digest = createHash('sha256').update(flat).digest('hex').slice(0, 8)
  return `${flat.slice(0, maxNameLength - digest.length - 1)}_${digest}`
}

const separator = '__'

/** In characters; providers reject longer names. */
const maxNameLength = 64

/** The property of a custom tool's arguments that holds its input. */
export const inputProperty = 'input'

function lowerTool(
  tool: Fields,
  path: string,
  { unsupported }: ToolOptions,
  warn: Warn,
): readonly NamedTool[] {
  switch (tool.type) {
    case 'function':
      return [lowerFunction(tool, path)]
    case 'custom':
      return [lowerCustom(tool, path)]
    case 'namespace':
      return lowerNamespace(tool, path)
  }
  const type = String(tool.type)
  if (unsupported === 'reject')
    throw unsupportedParameter(`Unsupported tool: '${type}' is not supported.`, `${path}.type`)
  warn({ what: 'Tool', name: type })
  return []
}

function lowerFunction(tool: Fields, path: string): NamedTool {
  const name = requiredName(tool, path)
  const { parameters, strict } = tool
  if (parameters != null && !isObject(parameters))
    throw badRequest(
      `Invalid '${path}.parameters': it must be an object.`,
      'invalid_type',
      `${path}.parameters`,
    )
  return {
    tool: {
      name,
      description: textOf(tool.description),
      parameters: parameters ?? undefined,
      strict: typeof strict === 'boolean' ? strict : undefined,
    },
    callName: { name, custom: false },
  }
}

/** Models receive a function with one text: only few know tools with free text as input. */
function lowerCustom(tool: Fields, path: string): NamedTool {
  const name = requiredName(tool, path)
  const description = [textOf(tool.description), grammarOf(tool.format)].filter((text) => text !== undefined)
  return {
    tool: {
      name,
      description: description.join('\n\n') || undefined,
      parameters: {
        type: 'object',
        properties: { [inputProperty]: { type: 'string', description: 'The complete input of the tool.' } },
        required: [inputProperty],
        additionalProperties: false,
      },
    },
    callName: { name, custom: true },
  }
}

/** A grammar is not enforced, but the model is asked to follow it. */
function grammarOf(format: unknown): string | undefined {
  const { type, syntax, definition } = fieldsOf(format)
  const grammar = textOf(definition)
  if (type !== 'grammar' || grammar === undefined) return undefined
  return `The input must match this ${textOf(syntax) ?? 'formal'} grammar:\n${grammar}`
}

function lowerNamespace(namespace: Fields, path: string): readonly NamedTool[] {
  const name = requiredName(namespace, path)
  return listOf(namespace.tools).map((entry, index) => {
    const tool = fieldsOf(entry)
    const toolPath = `${path}.tools[${index}]`
    if (tool.type !== 'function' && tool.type !== 'custom')
      throw unsupportedParameter(
        `Unsupported tool: '${String(tool.type)}' is not supported in a namespace.`,
        `${toolPath}.type`,
      )
    const lowered = tool.type === 'function' ? lowerFunction(tool, toolPath) : lowerCustom(tool, toolPath)
    return {
      tool: { ...lowered.tool, name: flatName(name, lowered.tool.name) },
      callName: { ...lowered.callName, namespace: name },
    }
  })
}

function requiredName({ name }: Fields, path: string): string {
  if (typeof name === 'string' && /^[\w.-]{1,128}$/.test(name)) return name
  const param = `${path}.name`
  if (name === undefined)
    throw badRequest(`Missing required parameter: '${param}'.`, 'missing_required_parameter', param)
  const rule = 'it must have 1 to 128 letters, digits, underscores, hyphens or dots'
  throw badRequest(`Invalid '${param}': ${rule}.`, 'invalid_value', param)
}

function rejectDuplicates(tools: readonly NamedTool[], path: string): void {
  const names = new Set<string>()
  for (const { tool } of tools) {
    if (names.has(tool.name))
      throw badRequest(`Invalid '${path}': two tools have the name '${tool.name}'.`, 'invalid_value', path)
    names.add(tool.name)
  }
}

function toolsDisabled(path: string): Error {
  const message = `Unsupported parameter: '${path}' is not supported by /v1/responses unless compatibility.function_tools is enabled in the settings. Use /v1/chat/completions instead.`
  return unsupportedParameter(message, path)
}

/** The tools that a request allows, and its choice among them. */
type ChosenTools = { readonly tools: readonly NamedTool[]; readonly choice: ToolChoice | undefined }

/** Lowers the tool choice of a request with tools; throws 400 where it is invalid. */
export function chooseTools(choice: unknown, tools: readonly NamedTool[]): ChosenTools {
  if (choice == null || tools.length === 0) return { tools, choice: undefined }
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { tools, choice }
  const { type, mode, tools: allowed } = fieldsOf(choice)
  const byName = new Map(tools.map((tool) => [tool.tool.name, tool]))
  if (type === 'allowed_tools') {
    const named = listOf(allowed).map((tool, index) => findTool(tool, byName, `tool_choice.tools[${index}]`))
    return { tools: [...new Set(named)], choice: mode === 'required' ? mode : 'auto' }
  }
  return { tools, choice: { name: findTool(choice, byName, 'tool_choice').tool.name } }
}

/** The tool that a choice names. */
function findTool(choice: unknown, tools: ReadonlyMap<string, NamedTool>, path: string): NamedTool {
  if (!isObject(choice) || (choice.type !== 'function' && choice.type !== 'custom'))
    throw unknownChoice(choice, path)
  const name = textOf(choice.name) ?? ''
  const namespace = textOf(choice.namespace)
  const found = tools.get(namespace === undefined ? name : flatName(namespace, name))
  if (found) return found
  throw badRequest(`Invalid '${path}': 'tools' has no tool of that name.`, 'invalid_value', `${path}.name`)
}

function unknownChoice(choice: unknown, path: string): Error {
  const type = textOf(fieldsOf(choice).type)
  if (type !== undefined)
    return unsupportedParameter(`Unsupported tool choice: '${type}' is not supported.`, `${path}.type`)
  const message = `Invalid '${path}': it must be auto, none, required or an object that names a tool.`
  return badRequest(message, 'invalid_value', path)
}
