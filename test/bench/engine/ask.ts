/** What one request to an engine has taken, in milliseconds, and used, in tokens. */
export type Asked = {
  readonly totalMs: number
  /** In a slot of the engine: the time of the provider through Weir, and the engine's own count without. */
  readonly engineMs: number
  readonly promptTokens: number
  readonly cachedTokens: number
}

export type Question = {
  readonly messages: readonly { readonly role: string; readonly content: string }[]
  readonly maxTokens: number
  readonly session?: string
}

const timeoutMs = 10 * 60_000

/** Sends a chat completion, and returns its answer and what it has taken. */
export async function ask(
  url: string,
  key: string,
  { messages, maxTokens, session }: Question,
): Promise<Asked & { readonly text: string }> {
  const startedAt = performance.now()
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const reply = await fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: session === undefined ? headers : { ...headers, 'x-session-id': session },
    body: JSON.stringify({ model: 'acme/river', messages, max_tokens: maxTokens, temperature: 0 }),
    signal: AbortSignal.timeout(timeoutMs),
  })
  if (!reply.ok) throw new Error(`The request failed with ${reply.status}: ${await reply.text()}`)
  const { usage, choices, timings } = (await reply.json()) as Completion
  const [, upstream] = /upstream;dur=([\d.]+)/.exec(reply.headers.get('server-timing') ?? '') ?? []
  return {
    totalMs: performance.now() - startedAt,
    engineMs: Number(upstream ?? (timings?.prompt_ms ?? 0) + (timings?.predicted_ms ?? 0)),
    promptTokens: usage.prompt_tokens,
    cachedTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
    text: choices[0]?.message.content ?? '',
  }
}

type Completion = {
  readonly choices: readonly { readonly message: { readonly content: string } }[]
  readonly usage: {
    readonly prompt_tokens: number
    readonly prompt_tokens_details?: { readonly cached_tokens: number }
  }
  /** Only of llama.cpp. */
  readonly timings?: { readonly prompt_ms: number; readonly predicted_ms: number }
}

/** The value below which this part of the values is. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}
