import type { ModelApi } from '../../domain/generation/parameters.ts'
import type { Generation, Message } from '../../domain/generation/request.ts'
import { badRequest } from '../../lib/errors/errors.ts'
import { fieldsOf, textOf } from '../../lib/json/json.ts'
import { ValueBudget } from '../../lib/validation/value-budget.ts'

/** Characters before the comma of a data URL: its media type with its parameters. */
const maxDataUrlHead = 1024

/** Characters. No provider accepts a longer name of a function, and some receive it again with each result. */
const maxFunctionName = 256

/** Characters of arguments that are parsed in a few milliseconds, whatever they contain. */
const maxUncountedArguments = 256 * 1024

/** Throws the 400 of a request with strings that are parsed or repeated, and that would take long. */
export function requireBounds({ messages }: Generation, api: ModelApi): void {
  const field = api === 'responses' ? 'input' : 'messages'
  for (const [index, { parts }] of messages.entries())
    for (const part of parts) {
      const url = part.type === 'image' ? part.url : fileData(part)
      if (url !== undefined && hasLongHead(url)) throw longHead(`${field}[${index}]`)
    }
  boundCalls(messages, field)
}

function fileData(part: Message['parts'][number]): string | undefined {
  return part.type === 'foreign' ? textOf(fieldsOf(part.value.file).file_data) : undefined
}

function hasLongHead(url: string): boolean {
  if (url.length <= maxDataUrlHead || !/^data:/i.test(url)) return false
  const comma = url.indexOf(',')
  return comma < 0 || comma > maxDataUrlHead
}

function longHead(path: string): Error {
  const message = `Invalid '${path}': the media type of a data URL must have at most ${maxDataUrlHead} characters.`
  return badRequest(message, 'invalid_image_url', path)
}

/** Most providers receive arguments as text, some as values. */
function boundCalls(messages: readonly Message[], field: string): void {
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? message.toolCalls : []))
  if (calls.some(({ name }) => name.length > maxFunctionName)) throw longName(field)
  const characters = calls.reduce((sum, call) => sum + call.arguments.length, 0)
  if (characters <= maxUncountedArguments) return
  const budget = new ValueBudget(field)
  for (const call of calls) budget.take(call.arguments)
}

function longName(path: string): Error {
  const message = `Invalid '${path}': the name of a function must have at most ${maxFunctionName} characters.`
  return badRequest(message, 'string_above_max_length', path)
}
