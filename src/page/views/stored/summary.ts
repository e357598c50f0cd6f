/** A stored object. */
export type StoredKind = 'completions' | 'responses'

/** The metadata of a stored object; the API compares a value that is not text as its JSON. */
export type Metadata = Readonly<Record<string, unknown>>

/** The summary of a stored object for a list: the whole of it may be large, and is not kept. */
export type Summary = {
  readonly id: string
  readonly model: string
  /** Unix seconds. */
  readonly created: number
  readonly preview: string
  readonly status: string
  readonly tokens: number | null
  readonly metadata: string
}

type CompletionFields = {
  readonly id: string
  readonly model: string
  readonly created: number
  readonly choices: readonly {
    readonly finish_reason?: string | null
    readonly message?: {
      readonly content?: string | null
      readonly tool_calls?: readonly { readonly function?: { readonly name?: string } }[] | null
    }
  }[]
  readonly usage?: { readonly total_tokens?: number } | null
  readonly metadata?: Metadata | null
}

type ResponseFields = {
  readonly id: string
  readonly model: string
  readonly created_at: number
  readonly status: string
  readonly output: readonly {
    readonly type: string
    readonly name?: string
    readonly content?: readonly { readonly text?: string }[]
  }[]
  readonly usage?: { readonly total_tokens?: number } | null
  readonly metadata?: Metadata | null
  readonly error?: { readonly message?: string } | null
}

/** Summarizes a completion. */
export function summarizeCompletion(completion: CompletionFields): Summary {
  const { id, model, created, choices, usage, metadata } = completion
  const message = choices[0]?.message
  const calls = message?.tool_calls?.map((call) => `${call.function?.name ?? ''}()`).join(', ')
  return {
    id,
    model,
    created,
    preview: shorten(message?.content || calls || ''),
    status: choices[0]?.finish_reason ?? '',
    tokens: usage?.total_tokens ?? null,
    metadata: metadataText(metadata),
  }
}

/** Summarizes a response. */
export function summarizeResponse(response: ResponseFields): Summary {
  const { id, model, created_at: created, status, output, usage, metadata, error } = response
  const text = output.flatMap(({ content = [] }) => content.map((part) => part.text ?? '')).join(' ')
  const calls = output.flatMap(({ name }) => (name === undefined ? [] : [`${name}()`])).join(', ')
  return {
    id,
    model,
    created,
    preview: shorten(text || calls || error?.message || ''),
    status,
    tokens: usage?.total_tokens ?? null,
    metadata: metadataText(metadata),
  }
}

/** Characters. A cell has one line. */
const maxLength = 160

/** A copy, because a part of a long text would keep all of it in memory. */
function shorten(text: string): string {
  const start = text
    .slice(0, 2 * maxLength)
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, maxLength)
  return Array.from(start).join('')
}

function metadataText(metadata: Metadata | null | undefined): string {
  const pairs = Object.entries(metadata ?? {}).slice(0, 8)
  return shorten(pairs.map(([key, value]) => `${key}: ${metadataValue(value)}`).join(', '))
}

/** A value of metadata as text. */
export function metadataValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
