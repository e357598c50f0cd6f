import type { Generation, Message, Part } from '../../domain/generation/request.ts'
import type { Usage } from '../../domain/generation/usage.ts'

/**
 * Whether the caller asks for a cache that is stored for an hour, for example with the `cache_control`
 * `{"type": "ephemeral", "ttl": "1h"}` of a part, a message, a tool or the request.
 */
export function requestsLongCache({ source, extras, messages }: Generation): boolean {
  if (source !== undefined) return hasLongMarker(source.body)
  return hasLongMarker(extras) || messages.some(isMarked)
}

/**
 * The usage with its cache writes as writes for an hour, where such were requested and the provider does not report how
 * long they are stored.
 */
export function withLongWrites(usage: Usage, generation: Generation): Usage {
  const { cacheWriteTokens = 0, longCacheWriteTokens } = usage
  if (cacheWriteTokens === 0 || longCacheWriteTokens !== undefined) return usage
  return requestsLongCache(generation) ? { ...usage, longCacheWriteTokens: cacheWriteTokens } : usage
}

function isMarked({ extras, parts }: Message): boolean {
  return hasLongMarker(extras) || parts.some(isMarkedPart)
}

function isMarkedPart(part: Part): boolean {
  return hasLongMarker(part.type === 'foreign' ? part.value : part.extras)
}

/** Some routers have properties beside `cache_control` that begin like it. */
function hasLongMarker(value: unknown): boolean {
  return someProperty(value, (name, child) =>
    name.startsWith('cache_control') ? hasLongLifetime(child) : hasLongMarker(child),
  )
}

function hasLongLifetime(value: unknown): boolean {
  return someProperty(value, (name, child) =>
    name === 'ttl' ? typeof child === 'string' && child !== '5m' : hasLongLifetime(child),
  )
}

function someProperty(value: unknown, matches: (name: string, child: unknown) => boolean): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, child]) => matches(name, child))
}
