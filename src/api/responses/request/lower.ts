import type { Format, Generation, Message } from '../../../domain/generation/request.ts'
import { Warnings } from '../../../domain/generation/warnings.ts'
import type { Models } from '../../../gateway/models/models.ts'
import {
  type LoweredRequest,
  type PreparedGeneration,
  prepareGeneration,
  requestedModel,
} from '../../../gateway/models/prepare-generation.ts'
import { badRequest, unsupportedParameter } from '../../../lib/errors/errors.ts'
import { type Fields, isObject } from '../../../lib/json/json.ts'
import { quoted } from '../../../lib/validation/problem.ts'
import { lowerAllTools } from './additional-tools.ts'
import type { Conversation, Item } from './items.ts'
import { extrasOf, tierOf, warnOfIgnored } from './lower-extras.ts'
import { lowerItems } from './lower-items.ts'
import type { ResponseRequest } from './schema.ts'
import { chooseTools, type ToolOptions } from './tools.ts'

const names = {
  max_tokens: 'max_output_tokens',
  reasoning_effort: 'reasoning.effort',
  response_format: 'text.format',
}

/**
 * Lowers a request to a generation for any model: `context` has the items of the previous responses, the oldest first,
 * `input` those of the request; references are resolved. Throws 400 for fields that are invalid only in combination, and
 * for what is not supported.
 */
export function lower(
  request: ResponseRequest,
  { context, input }: Conversation,
  options: ToolOptions,
): LoweredRequest {
  rejectUnstoredRun(request)
  const warnings = new Warnings()
  const all = lowerAllTools(request.tools, { context, input }, options, warnings.add)
  const { tools, choice } = chooseTools(request.tool_choice, all)
  const items = lowerItems(context, input, options.functionTools, warnings.add)
  const messages = [...lowerInstructions(request), ...items]
  if (messages.length === 0) throw emptyInput(input)
  warnOfIgnored(request, warnings.add)
  const generation: Generation = {
    messages,
    tools: tools.map(({ tool }) => tool),
    toolChoice: choice,
    parallelToolCalls: tools.length > 0 ? (request.parallel_tool_calls ?? undefined) : undefined,
    format: lowerFormat(request.text?.format),
    maxTokens: request.max_output_tokens ?? undefined,
    temperature: request.temperature ?? undefined,
    topP: request.top_p ?? undefined,
    effort: request.reasoning?.effort ?? undefined,
    serviceTier: tierOf(request),
    user: request.user ?? undefined,
    extras: extrasOf(request),
  }
  return { generation, names, warnings: warnings.sentences() }
}

function rejectUnstoredRun({ background, store }: ResponseRequest): void {
  if (background !== true || store !== false) return
  const message =
    "Unsupported parameter: 'background' requires the response to be stored. Remove 'store', or set it to true."
  throw unsupportedParameter(message, 'background')
}

function lowerInstructions({ instructions }: ResponseRequest): readonly Message[] {
  return instructions ? [{ role: 'system', parts: [{ type: 'text', text: instructions }] }] : []
}

function emptyInput(input: readonly Item[]) {
  const message = "Invalid 'input': must have content for the model, unless 'previous_response_id' is set."
  return badRequest(message, input.length === 0 ? 'empty_array' : 'invalid_value', 'input')
}

/** Lowers `text.format`, where the schema is a sibling of its name. */
function lowerFormat(format: (Fields & { readonly type: string }) | null | undefined): Format | undefined {
  if (format == null) return undefined
  switch (format.type) {
    case 'text':
    case 'json_object':
      return { type: format.type }
    case 'json_schema':
      return lowerSchema(format)
    default:
      throw unknownFormat(format.type)
  }
}

function lowerSchema({ name, schema, strict, description }: Fields): Format {
  if (typeof name !== 'string') throw missingField('name', 'a string')
  if (!isObject(schema)) throw missingField('schema', 'an object')
  return {
    type: 'json_schema',
    name,
    schema,
    strict: typeof strict === 'boolean' ? strict : undefined,
    description: typeof description === 'string' ? description : undefined,
  }
}

function missingField(field: string, kind: string) {
  const path = `text.format.${field}`
  const message = `Missing required parameter: '${path}'. With type 'json_schema' it must be ${kind}.`
  return badRequest(message, 'missing_required_parameter', path)
}

function unknownFormat(type: string) {
  const message = `Invalid 'text.format.type': must be one of 'text', 'json_object' or 'json_schema', not ${quoted(type)}.`
  return badRequest(message, 'invalid_value', 'text.format.type')
}

/** Finds the model and lowers the request with its conversation; throws the 400 or 404 of a request that cannot be served. */
export function prepareRequest(
  request: ResponseRequest,
  conversation: Conversation,
  models: Models,
  options: ToolOptions,
): PreparedGeneration {
  const { unsupported } = options
  const requested = requestedModel(models, request.model, 'responses')
  const lowered = lower(request, conversation, options)
  return prepareGeneration(requested, lowered, { api: 'responses', models, unsupported })
}
