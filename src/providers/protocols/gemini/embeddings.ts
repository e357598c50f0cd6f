import type { GenerationEvent } from '../../../domain/generation/events.ts'
import type { Generation } from '../../../domain/generation/request.ts'
import { fieldsOf, isObject, listOf } from '../../../lib/json/json.ts'
import { noStream, readEmbeddings } from '../embeddings/read-embeddings.ts'
import { type Body, collectWarnings, type Protocol, type Target, type Warn } from '../protocol.ts'
import { hasError, parseError } from './error.ts'
import { parseUsage } from './usage.ts'

/** The `batchEmbedContents` protocol of Google's models. */
export const geminiEmbeddings: Protocol<null> = {
  name: 'gemini-embeddings',
  parameters: new Set(),
  render: collectWarnings(renderRequest),
  parse: parseResponse,
  stream: noStream,
  parseError,
}

function renderRequest(generation: Generation, target: Target, warn: Warn): Body {
  const { inputs = [], embedding, extras, user } = generation
  for (const [name, value] of Object.entries({ ...extras, user }))
    if (value !== null && value !== undefined) warn({ what: 'Parameter', name, by: 'gemini' })
  const model = target.model.includes('/') ? target.model : `models/${target.model}`
  const texts = inputs.filter((input) => typeof input === 'string')
  return { requests: texts.map((text) => renderText(text, model, embedding?.dimensions)) }
}

function renderText(text: string, model: string, dimensions: number | undefined): Body {
  return { model, content: { parts: [{ text }] }, outputDimensionality: dimensions }
}

function parseResponse(body: unknown, generation?: Generation): GenerationEvent[] {
  if (!isObject(body) || hasError(body) || !Array.isArray(body.embeddings))
    return [{ type: 'failure', error: parseError(body) }]
  const received = listOf(body.embeddings).map((item) => ({ embedding: fieldsOf(item).values }))
  // Not all models report it.
  return readEmbeddings(received, parseUsage(body.usageMetadata)?.promptTokens, generation)
}
