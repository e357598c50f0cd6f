import type { Json } from '../../../src/lib/json/json.ts'
import type { App } from '../../support/app.ts'
import { type Script, json } from '../../support/script.ts'

/** The settings of a model that embeds. */
export const embeddingModel = { supported_apis: ['embeddings' as const] }

/** A minimal embedding request. */
export const embeddingRequest = { model: 'acme/river', input: 'How high is it?' }

/** Numbers that floats of 32 bits hold exactly. */
export const vectors = [
  [0.5, -0.25, 1],
  [2, 0, -4],
]

/** The base64 text of these numbers. */
export function base64Of(numbers: readonly number[]): string {
  const bytes = Buffer.alloc(numbers.length * 4)
  for (const [index, number] of numbers.entries()) bytes.writeFloatLE(number, index * 4)
  return bytes.toString('base64')
}

/** A script that replies with these embeddings. */
export function embeddingReply(embeddings: readonly Json[], usage: object | null = defaultUsage): Script {
  const data = embeddings.map((embedding, index) => ({ object: 'embedding', index, embedding }))
  return json({ object: 'list', data, model: 'river-1', ...(usage && { usage }) })
}

const defaultUsage = { prompt_tokens: 5, total_tokens: 5 }

export type EmbeddingBody = {
  readonly object: string
  readonly data: readonly { readonly object: string; readonly index: number; readonly embedding: Json }[]
  readonly model: string
  readonly usage: object
  readonly provider?: string
  readonly warnings?: readonly string[]
}

/** Sends the request to the app. */
export function embed(app: App, body: object, signal?: AbortSignal): Promise<Response> {
  return app.request('/v1/embeddings', { method: 'POST', body, signal })
}

/** Sends the request and parses its reply. */
export async function embeddingsOf(app: App, body: object): Promise<EmbeddingBody> {
  return (await (await embed(app, body)).json()) as EmbeddingBody
}
