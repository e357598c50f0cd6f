import type { ToolChoice } from '../../../domain/generation/request.ts'
import { badRequest, unsupportedParameter } from '../../../lib/errors/errors.ts'
import { fieldsOf, isObject, listOf, textOf } from '../../../lib/json/json.ts'
import { flatName, type NamedTool } from './tools.ts'

/** The tools that a request allows, and its choice among them. */
export type ChosenTools = { readonly tools: readonly NamedTool[]; readonly choice: ToolChoice | undefined }

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
