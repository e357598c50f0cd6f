/** A part of the content of a message. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly url: string }
  | { readonly kind: 'other'; readonly value: unknown }

/** An entry of a conversation, of completions and of responses. */
export type Entry =
  | { readonly kind: 'message'; readonly role: string; readonly parts: readonly Part[] }
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'call'; readonly name: string; readonly input: string }
  | { readonly kind: 'result'; readonly call: string; readonly parts: readonly Part[] }
  | { readonly kind: 'other'; readonly value: unknown }

type Fields = Readonly<Record<string, unknown>>

/** The entries of a message of a completion: its reasoning, its content, its tool calls. */
export function messageEntries(message: unknown): readonly Entry[] {
  const { role, content, reasoning, tool_calls: calls, tool_call_id: call } = fieldsOf(message)
  const parts = partsOf(content)
  if (role === 'tool') return [{ kind: 'result', call: textOf(call), parts }]
  return [
    ...(textOf(reasoning) === '' ? [] : [{ kind: 'reasoning', text: textOf(reasoning) } as const]),
    ...(parts.length === 0 ? [] : [{ kind: 'message', role: textOf(role), parts } as const]),
    ...listOf(calls).map(callEntry),
  ]
}

function callEntry(call: unknown): Entry {
  const { name, arguments: input } = fieldsOf(fieldsOf(call).function)
  return { kind: 'call', name: textOf(name), input: textOf(input) }
}

/** The entry of an input or output item of a response. */
export function itemEntry(item: unknown): Entry {
  const fields = fieldsOf(item)
  const { type, role, content, summary, name, call_id: call, output } = fields
  switch (type) {
    case 'message':
      return { kind: 'message', role: textOf(role), parts: partsOf(content) }
    case 'reasoning':
      return { kind: 'reasoning', text: partTexts(summary) || partTexts(content) }
    case 'function_call':
      return { kind: 'call', name: textOf(name), input: textOf(fields.arguments) }
    case 'custom_tool_call':
      return { kind: 'call', name: textOf(name), input: textOf(fields.input) }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { kind: 'result', call: textOf(call), parts: partsOf(output) }
    default:
      return { kind: 'other', value: item }
  }
}

function partTexts(parts: unknown): string {
  return listOf(parts)
    .map((part) => textOf(fieldsOf(part).text))
    .join('\n\n')
}

/** The parts of a content, which may be text alone. */
function partsOf(content: unknown): readonly Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }]
  return listOf(content).map(partOf)
}

function partOf(part: unknown): Part {
  const { text, refusal, image_url: image } = fieldsOf(part)
  if (typeof text === 'string') return { kind: 'text', text }
  if (typeof refusal === 'string') return { kind: 'text', text: refusal }
  const url = typeof image === 'string' ? image : fieldsOf(image).url
  return typeof url === 'string' ? { kind: 'image', url } : { kind: 'other', value: part }
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
