import { fieldsOf, type Fields, listOf } from '../../../lib/json/json.ts'
import type { Conversation, Item } from './items.ts'
import type { Warn } from './lower-extras.ts'
import { lowerTools, type NamedTool, type ToolOptions } from './tools.ts'

/** The type of items that add tools to those of the request, as Codex sends all of its tools to models that it knows. */
export const additionalTools = 'additional_tools'

/**
 * Lowers the tools of a request and those that the items of its conversation add; a later one replaces one of the same
 * name. Throws as `lowerTools` does.
 */
export function lowerAllTools(
  tools: readonly Fields[] | null | undefined,
  { context, input }: Conversation,
  options: ToolOptions,
  warn: Warn,
): readonly NamedTool[] {
  const lowerItem = (path: string) => (item: Item, index: number) =>
    lowerTools(toolsOf(item), options, warn, `${path}[${index}].tools`)
  const all = [
    ...lowerTools(tools, options, warn),
    ...context.flatMap(lowerItem('previous_response_id')),
    ...input.flatMap(lowerItem('input')),
  ]
  return [...new Map(all.map((named) => [named.tool.name, named])).values()]
}

/**
 * The tools that the items of a conversation add, without all that the names of their calls do not depend on. Each is there
 * once, where it was last: clients repeat all tools with every request, and each response of a chain is stored with its own.
 */
export function namesOfAdditionalTools({ context, input }: Conversation): readonly Fields[] {
  const names = [...context, ...input].flatMap(toolsOf).map(nameOf).toReversed()
  return [...new Map(names.map((name) => [JSON.stringify(name), name])).values()].toReversed()
}

function toolsOf({ type, tools }: Item): readonly Fields[] {
  return type === additionalTools ? listOf(tools).map(fieldsOf) : []
}

function nameOf({ type, name, tools }: Fields): Fields {
  return type === 'namespace'
    ? { type, name, tools: listOf(tools).map((tool) => nameOf(fieldsOf(tool))) }
    : { type, name }
}
