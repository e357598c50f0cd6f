import { createHash } from 'node:crypto'
import type { Format, Generation, Message, Part } from '../../domain/generation/request.ts'
import type { Unsupported } from '../../domain/generation/warnings.ts'
import { badRequest } from '../../lib/errors/errors.ts'
import { type Fields, parseJson, textOf } from '../../lib/json/json.ts'
import { shortText } from '../../lib/text.ts'
import { findTooWide, isTooDeep } from '../../lib/validation/json-bounds.ts'
import type { Target, Warn } from './protocol.ts'

/** In characters: several providers reject a longer id of a user. */
const maxUserLength = 64

/**
 * The id of the caller's user. Clients of Anthropic's API write whole objects there, which other providers reject: such
 * an id is hashed, always to the same one. In other APIs the caller has chosen it for this provider.
 */
export function renderUser({ user, source }: Pick<Generation, 'user' | 'source'>): string | undefined {
  if (source?.protocol !== 'anthropic' || user === undefined || user.length <= maxUserLength) return user
  return createHash('sha256').update(user).digest('hex')
}

/** Deeper JSON could be parsed, but serializing it would overflow the stack. */
const maxDepth = 200
/** Beyond the cheap ones of each object: each takes long to parse. */
const maxProperties = 4096

/** Parses JSON of any caller or model; undefined for other text, and where it nests too deeply or is too wide. */
export function parseBounded(text: string): unknown {
  return isTooDeep(text, maxDepth) || findTooWide(text, maxProperties) ? undefined : parseJson(text)
}

/** Characters of the results of tools in one request, which are parsed in a twentieth of a second whatever they contain. */
const maxParsedResults = 1024 * 1024

/** Whether the protocols that take results as values parse them: a longer conversation has them as text. */
export function parsesResults(messages: readonly Message[]): boolean {
  let characters = 0
  for (const message of messages)
    if (message.role === 'tool') for (const part of message.parts) characters += textLength(part)
  return characters <= maxParsedResults
}

function textLength(part: Part): number {
  if (part.type === 'text') return part.text.length
  return part.type === 'foreign' ? (textOf(part.value.refusal)?.length ?? 0) : 0
}

/** A name for a file that has none: OpenAI requires one, and derives the type from its extension. */
export function fileNameFor(dataUrl: string): string {
  return `file.${/^data:[\w.-]+\/(\w+)[;,]/.exec(dataUrl)?.[1] ?? 'pdf'}`
}

/**
 * Returns what is left of the parts of a message; throws the 400 for a user message of which nothing is, because the model
 * would answer to something else.
 */
export function requireContent<Content extends { readonly length: number }>(
  content: Content,
  { role, parts }: Message,
  by: string,
): Content {
  if (content.length > 0 || role !== 'user') return content
  const types = parts.flatMap((part) => (part.type === 'foreign' ? [part.value.type] : []))
  if (types.length === 0) return content
  // In quotation marks, which keep what the caller wrote out of records and logs.
  const names = [...new Set(types)]
    .slice(0, 3)
    .map((type) => `'${shortText(type, 40)}'`)
    .join(', ')
  throw badRequest(`No part of a user message is supported by ${by}: ${names}.`, 'unsupported_value', null)
}

/** Warns of the fields that are neither null nor undefined. */
export function warnOfFields(fields: Fields | undefined, kind: Omit<Unsupported, 'name'>, warn: Warn): void {
  for (const name in fields) if (fields[name] !== undefined && fields[name] !== null) warn({ ...kind, name })
}

/** Warns of the parameters that the request uses, of those that `by` does not support. */
export function warnOfUsed(isUsed: Readonly<Record<string, boolean>>, by: string, warn: Warn): void {
  for (const [name, used] of Object.entries(isUsed)) if (used) warn({ what: 'Parameter', name, by })
}

/** The limit of the request, lowered to the maximum of the model: providers reject a higher one. */
export function renderMaxTokens(
  maxTokens: number | undefined,
  max: number | undefined,
  { model }: Target,
  warn: Warn,
): number | undefined {
  if (maxTokens === undefined || max === undefined || maxTokens <= max) return maxTokens
  warn(`\`max_tokens\` was lowered to ${max}, the maximum of ${model}.`)
  return max
}

/** The schema of a format with its description, for providers that have no other field for it. */
export function describedSchema({ description, schema }: SchemaFormat): Fields {
  return description === undefined ? schema : { description, ...schema }
}

/** A format with a JSON schema. */
export type SchemaFormat = Extract<Format, { readonly type: 'json_schema' }>

/** The content of a data URL: its media type in lower case, which may be empty, and its bytes in base64. */
type InlineData = { readonly mediaType: string; readonly data: string }

/** The content of a data URL; undefined for any other URL. */
export function parseDataUrl(url: string): InlineData | undefined {
  const comma = url.indexOf(',')
  if (comma < 0 || !/^data:/i.test(url)) return undefined
  const [mediaType = '', ...attributes] = url.slice(5, comma).toLowerCase().split(';')
  const encoded = attributes.some((attribute) => attribute.trim() === 'base64')
  const text = percentDecoded(url.slice(comma + 1))
  return { mediaType: mediaType.trim(), data: encoded ? text : Buffer.from(text).toString('base64') }
}

/**
 * Whether a URL in the place of an image may be that of something else: some protocols send any data URL on, such as that
 * of a text or of audio.
 */
export function isOtherData(url: string): boolean {
  return /^data:/i.test(url) && !/^data:image\//i.test(url)
}

function percentDecoded(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
