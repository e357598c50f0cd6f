import type { Generation, Message, Part } from '../../domain/generation/request.ts'
import { type AbortLike, onAbort } from '../../lib/abort.ts'
import { ApiError, badRequest } from '../../lib/errors/errors.ts'
import { type Allowance, fetchImage, tooLargeTogether } from './fetch-image.ts'
import { ImageRefused, type NetworkOverrides } from './pinned-fetch.ts'

/** In milliseconds, for all images of a question. */
const deadline = 20_000
const mostAtOnce = 8
const mostBytes = 64 * 1024 * 1024

/**
 * The generation with the images that lie at an address fetched and put in as data URLs, each address once. One
 * that cannot be used is the caller's fault: a 400 that names it. `hold` is called with the bytes of each piece before it
 * is kept, and ends the fetching where it throws.
 */
export async function withInlineImages(
  generation: Generation,
  signal: AbortLike,
  surroundings: NetworkOverrides = {},
  hold?: (bytes: number) => void,
): Promise<Generation> {
  const places = remoteImages(generation)
  if (places.size === 0) return generation
  const images = await fetchAll(places, signal, surroundings, hold)
  refuseRepeated(generation, images)
  return { ...generation, messages: generation.messages.map((message) => inlined(message, images)) }
}

/** An image that is shown again and again is fetched once, and sent each time. */
function refuseRepeated({ messages }: Generation, images: ReadonlyMap<string, string>): void {
  let bytes = 0
  for (const [index, { parts }] of messages.entries()) {
    for (const [place, part] of parts.entries()) {
      if (remote(part)) bytes += ((images.get(part.url)?.length ?? 0) * 3) / 4
      if (bytes <= mostBytes + mostParts) continue
      const path = pathOf(index, place)
      throw badRequest(`Invalid '${path}': ${tooLargeTogether}.`, 'invalid_image_url', path)
    }
  }
}

/** What the data URLs of all parts say beside the bytes. */
const mostParts = 1024 * 1024

function pathOf(message: number, part: number): string {
  return `messages[${message}].content[${part}].image_url.url`
}

/** The addresses, each with the path where the caller wrote it first. */
function remoteImages({ messages }: Generation): ReadonlyMap<string, string> {
  const places = new Map<string, string>()
  for (const [index, { parts }] of messages.entries()) {
    for (const [place, part] of parts.entries()) {
      if (remote(part) && !places.has(part.url)) places.set(part.url, pathOf(index, place))
    }
  }
  return places
}

function remote(part: Part): part is Part & { readonly type: 'image' } {
  return part.type === 'image' && !/^data:/i.test(part.url)
}

async function fetchAll(
  places: ReadonlyMap<string, string>,
  signal: AbortLike,
  surroundings: NetworkOverrides,
  hold: ((bytes: number) => void) | undefined,
): Promise<ReadonlyMap<string, string>> {
  const images = new Map<string, string>()
  const over = new AbortController()
  const late = AbortSignal.timeout(surroundings.deadline ?? deadline)
  const letGo = onAbort(signal, () => over.abort(signal.reason))
  const stop = AbortSignal.any([late, over.signal])
  const allowance: Allowance = { bytes: mostBytes, hold }
  const waiting = places.entries()
  const fetchNext = async () => {
    // The iterator is shared: each takes the next address that nobody has taken.
    for (const [url, path] of waiting) {
      const fetching = fetchImage(url, allowance, stop, surroundings)
      images.set(url, await fetching.catch((error) => Promise.reject(toApiError(error, path, late))))
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(mostAtOnce, places.size) }, fetchNext))
    return images
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  } finally {
    letGo()
    over.abort()
  }
}

function toApiError(error: unknown, path: string, late: AbortSignal): ApiError {
  if (error instanceof ApiError) return error
  const sentence = error instanceof ImageRefused ? error.message : brokenOff(late)
  return badRequest(`Invalid '${path}': ${sentence}.`, 'invalid_image_url', path)
}

function brokenOff(late: AbortSignal): string {
  return late.aborted ? 'the image did not come in time' : 'the connection to the host of the image broke'
}

function inlined(message: Message, images: ReadonlyMap<string, string>): Message {
  if (!message.parts.some(remote)) return message
  const parts = message.parts.map((part) =>
    remote(part) ? { ...part, url: images.get(part.url) ?? part.url } : part,
  )
  return { ...message, parts }
}
