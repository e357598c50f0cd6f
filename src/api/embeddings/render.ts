import type { Json } from '../../lib/json/json.ts'
import { nextTurn } from '../../lib/time.ts'

/** The properties of a reply beside its embeddings. */
export type EmbeddingReply = {
  /** By the index of the input. */
  readonly embeddings: readonly Json[]
  /** The slug of the requested model. */
  readonly model: string
  readonly provider: string
  readonly promptTokens: number
  readonly warnings: readonly string[]
}

/** In characters: the JSON that is rendered in one turn of the event loop. */
const sliceLength = 512 * 1024

/** Renders the reply as JSON, in one part for each embedding. Other work runs in between: a reply can be very long. */
export async function renderEmbeddings(reply: EmbeddingReply): Promise<readonly string[]> {
  const parts = ['{"object":"list","data":[']
  let length = 0
  for (const [index, embedding] of reply.embeddings.entries()) {
    const part = renderEmbedding(index, embedding)
    parts.push(part)
    length += part.length
    if (length < sliceLength) continue
    length = 0
    await nextTurn()
  }
  parts.push(`],${renderRest(reply).slice(1)}`)
  return parts
}

function renderEmbedding(index: number, embedding: Json): string {
  return `${index === 0 ? '' : ','}{"object":"embedding","index":${index},"embedding":${JSON.stringify(embedding)}}`
}

function renderRest({ model, provider, promptTokens, warnings }: EmbeddingReply): string {
  const optional = warnings.length > 0 ? { warnings } : {}
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens }
  return JSON.stringify({ model, usage, provider, ...optional })
}

/** The number of dimensions of an embedding; base64 text has four bytes for each. */
export function dimensionsOf(embedding: Json | undefined): number {
  if (typeof embedding === 'string') return Buffer.byteLength(embedding, 'base64') / 4
  return Array.isArray(embedding) ? embedding.length : 0
}
