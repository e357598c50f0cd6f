import type { Generation, Message, Part } from '../../../domain/generation/request.ts'
import type { Dialect } from './dialect.ts'

/**
 * The messages of a request. The markers of a Messages request for Anthropic's cache are removed where the provider does
 * not know them; in a chat completions request the caller has chosen them for this provider.
 */
export function messagesFor({ messages, source }: Generation, { cacheControl }: Dialect): readonly Message[] {
  if (source?.protocol !== 'anthropic' || cacheControl || !messages.some(hasMarker)) return messages
  return messages.map((message) =>
    hasMarker(message) ? { ...message, parts: message.parts.map(withoutMarker) } : message,
  )
}

function hasMarker({ parts }: Message): boolean {
  return parts.some((part) => part !== withoutMarker(part))
}

function withoutMarker(part: Part): Part {
  if (part.type === 'foreign') {
    const { cache_control, ...value } = part.value
    return cache_control === undefined ? part : { ...part, value: { ...value, type: part.value.type } }
  }
  if (part.extras?.cache_control === undefined) return part
  const { cache_control: _, ...extras } = part.extras
  return { ...part, extras: Object.keys(extras).length > 0 ? extras : undefined }
}
