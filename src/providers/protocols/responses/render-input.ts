import { createHash } from 'node:crypto'
import type {
  AssistantMessage,
  Message,
  Part,
  PastToolCall,
  ToolMessage,
} from '../../../domain/generation/request.ts'
import { type Fields, fieldsOf, textOf, withoutEmpty } from '../../../lib/json/json.ts'
import { mapCallIds, uniqueCallIds } from '../call-ids.ts'
import type { Body, Warn } from '../protocol.ts'
import { fileNameFor, requireContent } from '../rendering.ts'
import { type CallState, callStateOf } from './turn.ts'

/**
 * Renders the conversation as input items. Instructions stay in the conversation with their role: `instructions` could
 * contain only the first ones.
 */
export function renderInput(messages: readonly Message[], warn: Warn): readonly Body[] {
  return mapCallIds(messages, uniqueCallIds()).flatMap((message) => renderMessage(message, warn))
}

function renderMessage(message: Message, warn: Warn): readonly Body[] {
  switch (message.role) {
    case 'assistant':
      return renderTurn(message, warn)
    case 'tool':
      return [renderResult(message, warn)]
    default: {
      const content = renderInputContent(message.parts, warn)
      return [{ role: message.role, content: requireContent(content, message, responsesApi) }]
    }
  }
}

/** The items of a turn in the order in which the model generated them: reasoning, text, calls. */
function renderTurn(message: AssistantMessage, warn: Warn): readonly Body[] {
  const [first, ...later] = message.toolCalls
  const state = callStateOf(first)
  return [
    ...state.reasoning,
    ...renderText(message, state, warn),
    ...(first ? [renderCall(first)] : []),
    ...later.flatMap((call) => [...callStateOf(call).reasoning, renderCall(call)]),
  ]
}

function renderText(message: AssistantMessage, { phase }: CallState, warn: Warn): readonly Body[] {
  const content = renderOutputContent(message.parts, warn)
  if (content.length === 0 && message.toolCalls.length > 0) return []
  return [{ role: 'assistant', content, ...(phase === undefined ? {} : { phase }) }]
}

function renderCall({ id, name, arguments: text }: PastToolCall): Body {
  const json = text.trim() === '' ? '{}' : text
  return { type: 'function_call', call_id: renderCallId(id), name, arguments: json }
}

/** A text-only result is sent as a string: not every provider accepts a list as the output of a call. */
function renderResult({ callId, parts }: ToolMessage, warn: Warn): Body {
  const output = textOnly(parts) ?? renderInputContent(parts, warn)
  return { type: 'function_call_output', call_id: renderCallId(callId), output }
}

/** In characters: OpenAI rejects longer call ids. */
const maxCallIdLength = 64

/** The id of a call as providers accept it: a long id is hashed, always to the same id. */
function renderCallId(id: string): string {
  if (id.length <= maxCallIdLength) return id
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 40)}`
}

/** The name of the protocol in warnings. */
export const responsesApi = 'the Responses API'

/** The content of a message: a single text as a string, which every provider accepts, or a list of parts. */
type Content = string | readonly Body[]

/** Renders the content of a message to the model. */
function renderInputContent(parts: readonly Part[], warn: Warn): Content {
  return renderContent(parts, renderInputPart, (name) =>
    warn({ what: 'Content part type', name, by: responsesApi }),
  )
}

/** Renders the content of a message of the model: text and refusals. */
function renderOutputContent(parts: readonly Part[], warn: Warn): Content {
  return renderContent(parts, renderOutputPart, (name) =>
    warn({ what: 'Content part type', name, by: `${responsesApi} in assistant messages` }),
  )
}

/** The texts of the parts, joined by line breaks; undefined where there are other parts. */
function textOnly(parts: readonly Part[]): string | undefined {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return texts.length === parts.length ? texts.join('\n') : undefined
}

function renderContent(
  parts: readonly Part[],
  renderPart: (part: Part) => Body | undefined,
  warnUnsupported: (name: string) => void,
): Content {
  const [only, second] = parts
  if (only?.type === 'text' && !second) return only.text
  const content: Body[] = []
  for (const part of parts) {
    const rendered = renderPart(part)
    if (rendered) content.push(rendered)
    else warnUnsupported(part.type === 'foreign' ? part.value.type : part.type)
  }
  return content.length === 0 ? '' : content
}

function renderInputPart(part: Part): Body | undefined {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text }
    case 'image':
      // Some engines reject an image without `detail`.
      return { type: 'input_image', image_url: part.url, detail: part.detail ?? 'auto' }
    case 'foreign':
      return renderFile(part.value)
  }
}

function renderOutputPart(part: Part): Body | undefined {
  if (part.type === 'text') return { type: 'output_text', text: part.text }
  if (part.type === 'image') return undefined
  const { type, refusal } = part.value
  return type === 'refusal' && typeof refusal === 'string' ? { type, refusal } : undefined
}

/** Renders a file in the form of chat completions or of the Responses API; undefined for any other part. */
function renderFile(part: Fields): Body | undefined {
  if (part.type === 'input_file') return inputFile(part)
  if (part.type !== 'file') return undefined
  const { file_data, filename } = fieldsOf(part.file)
  const data = textOf(file_data)
  if (data === undefined) return undefined
  if (/^https?:/.test(data)) return { type: 'input_file', file_url: data }
  return { type: 'input_file', filename: textOf(filename) ?? fileNameFor(data), file_data: data }
}

/** Only the known fields of a file: a provider may interpret others in any way. */
function inputFile({ type, file_data, file_url, filename, detail }: Fields): Body {
  return withoutEmpty({ type, file_data, file_url, filename, detail })
}
