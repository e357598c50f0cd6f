import { isUtf8 } from 'node:buffer'
import { storedLabel } from '../domain/accounting/request-metadata.ts'
import { fieldsOf, parseJson } from '../lib/json/json.ts'

/** The properties of a request body that say who sent it, and for what. */
export type AttributionLabels = {
  readonly user?: string | null
  /** The name that OpenAI's API now has for `user`; no schema has it, so it may be anything. */
  readonly safety_identifier?: unknown
  /** A session that the body names. */
  readonly session?: string | undefined
  readonly tags?: readonly string[] | null
}

/** Who sent a request, as it is recorded with its usage. */
type Attribution = {
  readonly user: string | undefined
  readonly session: string | undefined
  readonly tags: readonly string[] | undefined
}

/** The headers in which clients name the end user, the session and the tags of a request; the first that is present counts. */
const userHeaders = ['x-litellm-end-user-id', 'x-openwebui-user-id']
const sessionHeaders = [
  'x-session-id',
  'x-claude-code-session-id',
  'session_id',
  'session-id',
  'x-session-affinity',
  'x-openwebui-chat-id',
]
const tagHeaders = ['x-weir-tags', 'x-litellm-tags']

/** Reads who sent a request. What a body says precedes headers, except for the session; tags are those of both. */
export function attributionOf(labels: AttributionLabels, headers: Headers): Attribution {
  const user = labels.user || textOf(labels.safety_identifier) || firstOf(headers, userHeaders)
  const session = firstOf(headers, sessionHeaders) || labels.session
  const named = firstOf(headers, tagHeaders)
  return {
    user: user ? storedLabel(user) : undefined,
    session: session ? storedLabel(session) : undefined,
    tags: named === undefined ? (labels.tags ?? undefined) : withNamed(labels.tags ?? [], named),
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function firstOf(headers: Headers, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = headers.get(name)
    if (value) return isAscii(value) ? value : decoded(value)
  }
  return undefined
}

function isAscii(value: string): boolean {
  return !/[\x80-\xff]/.test(value)
}

/** Most clients send UTF-8 in a header, which is read as Latin-1. */
function decoded(value: string): string {
  const bytes = Buffer.from(value, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : value
}

const maxNamedTags = 4
const maxTagCharacters = 128

/** Adds the tags of a header, which are separated by commas. */
function withNamed(tags: readonly string[], named: string): readonly string[] {
  const found = named.split(',', 100).map((tag) => storedLabel(tag.trim(), maxTagCharacters))
  const added = found.filter(
    (tag, index) => tag !== '' && found.indexOf(tag) === index && !tags.includes(tag),
  )
  return [...tags, ...added.slice(0, maxNamedTags)]
}

/** Those that Claude Code has sent are a third of it. */
const maxUserIdLength = 512

/**
 * The user and the session in the `user_id` of the Messages API. Claude Code has both in it, as JSON or, in earlier
 * versions, as `user_…_account_…_session_…`; others have a user there.
 */
export function clientOf(userId: string | null | undefined): AttributionLabels {
  if (userId == null || userId.length > maxUserIdLength) return { user: userId ?? null }
  const { account_uuid: account, device_id: device, session_id: session } = fieldsOf(parseObject(userId))
  const user = textOf(account) || textOf(device)
  if (user && textOf(session)) return { user, session: textOf(session) }
  const [, before, after] = /^(user_.+)_session_([\w-]+)$/.exec(userId) ?? []
  return { user: before ?? userId, session: after }
}

/** Most ids are not JSON, and an error takes time. */
function parseObject(text: string): unknown {
  return text.startsWith('{') ? parseJson(text) : undefined
}
