import type { EmbeddingOptions } from '../../../domain/generation/request.ts'
import type { Json } from '../../../lib/json/json.ts'

/**
 * The embedding of a provider, a list of numbers or base64 text, in the requested format; undefined for anything that is
 * not an embedding.
 */
export function toVector(value: unknown, format: EmbeddingOptions['format']): Json | undefined {
  if (typeof value === 'string') return format === 'base64' ? textOf(value) : decode(value)
  if (!isVector(value)) return undefined
  return format === 'base64' ? encode(value) : value
}

/** The text, if it is base64 and can hold floats of 32 bits. */
function textOf(text: string): string | undefined {
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
  if (textOf(text) === undefined) return undefined
  // Copied: the bytes of a small buffer may begin at any address.
  const bytes = new Uint8Array(Buffer.from(text, 'base64'))
  const numbers = Array.from(new Float32Array(bytes.buffer))
  return numbers.every(Number.isFinite) ? numbers : undefined
}
