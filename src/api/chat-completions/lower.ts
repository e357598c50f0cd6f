import type {
  Format,
  Generation,
  Message,
  Part,
  PastToolCall,
  Tool,
  ToolChoice,
} from '../../domain/generation/request.ts'
import type { LoweredRequest } from '../../gateway/models/prepare-generation.ts'
import { rejectProviderState } from '../../http/provider-state.ts'
import { badRequest, unsupportedParameter } from '../../lib/errors/errors.ts'
import { type Fields, fieldsBeside, listOf, textOf } from '../../lib/json/json.ts'
import { ChatMessage, type ContentPart, isImagePart, isTextPart } from './message-schema.ts'
import { type ChatRequest, knownProperties } from './schema.ts'

/** Providers would take hours for more, and none offers it. */
const maxChoices = 128

type LowerOptions = {
  /** Log probabilities are supported. */
  readonly logprobs: boolean
}

/** Lowers a chat completion request. Throws 400 where its fields are valid on their own, but not together. */
export function lower(request: ChatRequest, options: LowerOptions): LoweredRequest {
  checkChoices(request.n)
  rejectFunctions(request)
  const tools = (request.tools ?? []).map(lowerTool)
  const generation: Generation = {
    messages: lowerMessages(request.messages),
    tools,
    toolChoice: lowerToolChoice(request.tool_choice, tools),
    parallelToolCalls: tools.length > 0 ? (request.parallel_tool_calls ?? undefined) : undefined,
    format: lowerFormat(request.response_format),
    maxTokens: request.max_completion_tokens ?? request.max_tokens ?? undefined,
    choices: request.n === 1 ? undefined : (request.n ?? undefined),
    stop: lowerStop(request.stop),
    temperature: request.temperature ?? undefined,
    topP: request.top_p ?? undefined,
    seed: request.seed ?? undefined,
    frequencyPenalty: request.frequency_penalty ?? undefined,
    presencePenalty: request.presence_penalty ?? undefined,
    logitBias: request.logit_bias ?? undefined,
    effort: request.reasoning_effort ?? undefined,
    serviceTier: request.service_tier ?? undefined,
    logprobs: options.logprobs ? lowerLogprobs(request) : undefined,
    user: request.user ?? undefined,
    extras: lowerExtras(request),
  }
  const names = request.max_completion_tokens == null ? {} : { max_tokens: 'max_completion_tokens' }
  return { generation, names, warnings: options.logprobs ? noWarnings : warningsFor(request) }
}

function checkChoices(count: number | null | undefined): void {
  if (count == null || count <= maxChoices) return
  throw badRequest(`Invalid 'n': must be at most ${maxChoices}, not ${count}.`, 'unsupported_value', 'n')
}

/** The form of tools before `tools`: a provider would take them, and the calls of its model reach no client. */
function rejectFunctions({ functions }: Fields): void {
  if (!Array.isArray(functions) || functions.length === 0) return
  throw unsupportedParameter(
    "Unsupported parameter: 'functions'. Use 'tools' and 'tool_choice' instead.",
    'functions',
  )
}

function lowerTool(tool: NonNullable<ChatRequest['tools']>[number]): Tool {
  const { name, description, parameters, ...rest } = tool.function
  const strict = (rest as Fields).strict
  return {
    name,
    description: description ?? undefined,
    parameters: parameters ?? undefined,
    strict: typeof strict === 'boolean' ? strict : undefined,
  }
}

function lowerToolChoice(choice: ChatRequest['tool_choice'], tools: readonly Tool[]): ToolChoice | undefined {
  if (choice == null) return undefined
  if (tools.length === 0) {
    if (choice === 'none' || choice === 'auto') return undefined
    throw badRequest(
      "Invalid 'tool_choice': allowed only when 'tools' has at least one tool.",
      'invalid_value',
      'tool_choice',
    )
  }
  if (typeof choice === 'string') return choice
  const { name } = choice.function
  if (tools.some((tool) => tool.name === name)) return { name }
  const message = "Invalid 'tool_choice.function.name': must be the name of a function in 'tools'."
  throw badRequest(message, 'invalid_value', 'tool_choice.function.name')
}

function lowerFormat(format: ChatRequest['response_format']): Format | undefined {
  if (format == null) return undefined
  if (format.type !== 'json_schema') return { type: format.type }
  const { name, schema, strict, ...rest } = format.json_schema
  const { description } = rest as Fields
  return {
    type: 'json_schema',
    name,
    schema,
    strict: strict ?? undefined,
    description: typeof description === 'string' ? description : undefined,
  }
}

function lowerStop(stop: ChatRequest['stop']): readonly string[] | undefined {
  const list = typeof stop === 'string' ? [stop] : (stop ?? [])
  return list.length === 0 ? undefined : list
}

function lowerLogprobs({ logprobs, top_logprobs: alternatives }: ChatRequest): Generation['logprobs'] {
  if (logprobs) return { alternatives: alternatives ?? undefined }
  if (!alternatives) return undefined
  const message = "Invalid 'top_logprobs': it requires 'logprobs' to be true."
  throw badRequest(message, 'invalid_value', 'top_logprobs')
}

/** The parameters that the API does not name. Text is all that a reply has: `modalities` of text alone change nothing. */
function lowerExtras(request: ChatRequest): Fields {
  const extras = fieldsBeside(knownProperties, request)
  const [only, another] = listOf(extras?.modalities)
  return only === 'text' && another === undefined ? { ...extras, modalities: null } : (extras ?? noExtras)
}

const noExtras: Fields = {}
const noWarnings: readonly string[] = []

function warningsFor(request: ChatRequest): readonly string[] {
  if (!request.logprobs && !request.top_logprobs) return noWarnings
  return ['Log probabilities are not supported; `logprobs` is null in every choice.']
}

/** Lowers the messages of a request; throws the 400 of a message that lacks what its role requires. */
function lowerMessages(messages: readonly ChatMessage[]): Message[] {
  rejectProviderState(messages, 'messages')
  return messages.map(lowerMessage)
}

function lowerMessage(message: ChatMessage, index: number): Message {
  const { role } = message
  const parts = lowerContent(message.content)
  const name = message.name ?? undefined
  const extras = extrasOf(message)
  switch (role) {
    case 'assistant': {
      const toolCalls = message.tool_calls?.map(lowerToolCall) ?? []
      return { role, parts: withRefusal(parts, message), name, extras, toolCalls }
    }
    case 'tool':
      return { role, parts, name, extras, callId: requiredCallId(message.tool_call_id, index) }
    default:
      return { role, parts, name, extras }
  }
}

function requiredCallId(id: string | null | undefined, index: number): string {
  if (id != null) return id
  const param = `messages[${index}].tool_call_id`
  const message = `Missing required parameter: '${param}'. A tool message must have the id of its tool call.`
  throw badRequest(message, 'missing_required_parameter', param)
}

function lowerToolCall(call: NonNullable<ChatMessage['tool_calls']>[number]): PastToolCall {
  return { id: call.id, name: call.function.name, arguments: call.function.arguments }
}

/** Adds a refusal as text, as in the replies of the gateway: few providers know the field, and would have an empty turn. */
function withRefusal(parts: Part[], { content, refusal }: Fields): Part[] {
  const text = textOf(refusal)
  return text === undefined ? parts : [...(content === '' ? [] : parts), { type: 'text', text }]
}

function lowerContent(content: ChatMessage['content']): Part[] {
  if (content == null) return []
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return content.map(lowerPart)
}

function lowerPart(part: ContentPart): Part {
  if (isTextPart(part)) return { type: 'text', text: part.text, extras: fieldsBeside(textFields, part) }
  if (isImagePart(part)) {
    const { url, detail } = part.image_url
    return { type: 'image', url, detail: detail ?? undefined, extras: fieldsBeside(imageFields, part) }
  }
  return { type: 'foreign', value: part }
}

const messageFields: ReadonlySet<string> = new Set(Object.keys(ChatMessage.properties))
const replyFields: ReadonlySet<string> = new Set(['reasoning', 'annotations', 'refusal'])
const textFields: ReadonlySet<string> = new Set(['type', 'text'])
const imageFields: ReadonlySet<string> = new Set(['type', 'image_url'])

/**
 * The properties that the API does not name. Clients send the message of a reply back unchanged: `reasoning` is ignored,
 * because providers take it in other ways, and so are `annotations`, which some reject, and empty values. `refusal` is text.
 */
function extrasOf(message: ChatMessage): Fields | undefined {
  const fields = fieldsBeside(messageFields, message)
  if (fields === undefined) return undefined
  const extras = Object.entries(fields).filter(
    ([name, value]) => !replyFields.has(name) && value != null && !isEmptyList(value),
  )
  return extras.length > 0 ? Object.fromEntries(extras) : undefined
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}
