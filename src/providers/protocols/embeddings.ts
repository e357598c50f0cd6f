import {
  detectedError,
  type Embedding,
  type GenerationEvent,
  invalidData,
  type Usage,
} from '../../domain/generation/events.ts'
import type { EmbeddingOptions, Generation } from '../../domain/generation/request.ts'
import { failure } from './parsing.ts'
import type { StreamParser } from './protocol.ts'

/** An embedding of a response; a response without indices has the order of the inputs. */
export type ReceivedEmbedding = { readonly index?: unknown; readonly embedding: unknown }

/**
 * The events of a complete response: an embedding for each input, in order, the usage and the finish. A response whose
 * embeddings do not match the inputs is a failure.
 */
export function readEmbeddings(
  received: readonly ReceivedEmbedding[],
  promptTokens: number | undefined,
  generation: Generation | undefined,
): GenerationEvent[] {
  const vectors = inOrder(received, generation)
  if (vectors === undefined) return [failure(mismatch)]
  const events: GenerationEvent[] = vectors.map((embedding, index) => ({
    type: 'embedding',
    index,
    embedding,
  }))
  const usage: Usage | undefined = promptTokens ? { promptTokens, completionTokens: 0 } : undefined
  if (usage) events.push({ type: 'usage', usage })
  return [...events, { type: 'finish', choice: 0, reason: 'stop' }]
}

/** Undefined where an index is missing, repeated or too large, or where an embedding is not valid. */
function inOrder(
  received: readonly ReceivedEmbedding[],
  generation: Generation | undefined,
): readonly Embedding[] | undefined {
  const count = generation?.inputs?.length ?? received.length
  if (received.length !== count) return undefined
  const vectors = new Map<number, Embedding>()
  for (const [position, { index = position, embedding }] of received.entries()) {
    const vector = toEmbedding(embedding, formatOf(generation))
    if (vector === undefined || typeof index !== 'number') return undefined
    vectors.set(index, vector)
  }
  const ordered = Array.from({ length: count }, (_, index) => vectors.get(index))
  return ordered.every((vector) => vector !== undefined) ? ordered : undefined
}

const mismatch = detectedError('its embeddings do not match the inputs')

/** Embeddings are never streamed: a provider that sends a stream has not understood the request. */
export const noStream: StreamParser<null> = {
  initial: () => null,
  step: (state) => ({ state, events: [], done: true }),
  end: () => [failure(invalidData)],
}

/** The format in which the request asks for its embeddings. */
export function formatOf(generation: Generation | undefined): EmbeddingOptions['format'] {
  return generation?.embedding?.format ?? 'float'
}

/** An embedding of a response that was read before the response was parsed. */
class ReadEmbedding implements Embedding {
  readonly json: string
  readonly dimensions: number

  constructor(json: string, dimensions: number) {
    this.json = json
    this.dimensions = dimensions
  }
}

/**
 * Reads the embedding of a provider in the requested format; undefined for anything that is not an embedding. `json` is its
 * JSON, where it is at hand.
 */
export function toEmbedding(
  value: unknown,
  format: EmbeddingOptions['format'],
  json?: string,
): Embedding | undefined {
  if (value instanceof ReadEmbedding) return value
  const vector = toVector(value, format)
  if (vector === undefined) return undefined
  const rendered = vector === value ? json : undefined
  return new ReadEmbedding(rendered ?? JSON.stringify(vector), dimensionsOf(vector))
}

/** Base64 text has four bytes for each dimension. */
function dimensionsOf(vector: string | readonly number[]): number {
  return typeof vector === 'string' ? Buffer.byteLength(vector, 'base64') / bytesPerFloat : vector.length
}

/**
 * The embedding of a provider, a list of numbers or base64 text, in the requested format; undefined for anything that is
 * not an embedding.
 */
export function toVector(
  value: unknown,
  format: EmbeddingOptions['format'],
): string | readonly number[] | undefined {
  if (typeof value === 'string') return format === 'base64' ? base64Of(value) : decode(value)
  if (!isVector(value)) return undefined
  return format === 'base64' ? encode(value) : value
}

/** The text, if it is base64 and can hold floats of 32 bits. */
function base64Of(text: string): string | undefined {
  const bytes = /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? Buffer.byteLength(text, 'base64') : 0
  return bytes > 0 && bytes % bytesPerFloat === 0 ? text : undefined
}

const bytesPerFloat = 4

function isVector(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.every(Number.isFinite)
}

// A typed array has the byte order of the machine, which is little-endian on every platform of Bun.

function encode(numbers: readonly number[]): string {
  return Buffer.from(new Float32Array(numbers).buffer).toString('base64')
}

function decode(text: string): readonly number[] | undefined {
  if (base64Of(text) === undefined) return undefined
  // Copied: the bytes of a small buffer may begin at any address.
  const bytes = new Uint8Array(Buffer.from(text, 'base64'))
  const numbers = Array.from(new Float32Array(bytes.buffer))
  return numbers.every(Number.isFinite) ? numbers : undefined
}
