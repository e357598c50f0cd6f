import type { Generation, Message, Part } from '../../domain/generation/request.ts'
import { type AbortLike, onAbort } from '../../lib/abort.ts'
import { ApiError, badRequest } from '../../lib/errors/errors.ts'
import { type ImageBudget, fetchImage, totalTooLargeReason } from './fetch-image.ts'
import { ImageError, type NetworkOverrides } from './pinned-fetch.ts'

/** For all images of a request. */
const defaultTimeoutMs = 20_000
const maxConcurrent = 8
const maxTotalBytes = 64 * 1024 * 1024

/**
 * Returns the generation with its remote images fetched and inlined as data URLs, each URL once. An image
 * that cannot be used is the caller's fault: a 400 that names it. `hold` is called with the size of each
 * chunk before it is stored, and ends the fetching if it throws.
 */
export async function withInlineImages(
  generation: Generation,
  signal: AbortLike,
  network: NetworkOverrides = {},
  hold?: (bytes: number) => void,
): Promise<Generation> {
  const paths = remoteImages(generation)
  if (paths.size === 0) return generation
  const images = await fetchAll(paths, signal, network, hold)
  rejectOversized(generation, images)
  return { ...generation, messages: generation.messages.map((message) => inlineImages(message, images)) }
}

/** An image that occurs several times is fetched once, and sent each time. */
function rejectOversized({ messages }: Generation, images: ReadonlyMap<string, string>): void {
  let bytes = 0
  for (const [index, { parts }] of messages.entries()) {
    for (const [partIndex, part] of parts.entries()) {
      if (isRemote(part)) bytes += ((images.get(part.url)?.length ?? 0) * 3) / 4
      if (bytes <= maxTotalBytes + maxDataUrlOverhead) continue
      const path = pathOf(index, partIndex)
      throw badRequest(`Invalid '${path}': ${totalTooLargeReason}.`, 'invalid_image_url', path)
    }
  }
}

/** What all data URLs may add to the bytes. */
const maxDataUrlOverhead = 1024 * 1024

function pathOf(message: number, part: number): string {
  return `messages[${message}].content[${part}].image_url.url`
}

/** The URLs, each with the path of its first occurrence. */
function remoteImages({ messages }: Generation): ReadonlyMap<string, string> {
  const paths = new Map<string, string>()
  for (const [index, { parts }] of messages.entries()) {
    for (const [partIndex, part] of parts.entries()) {
      if (isRemote(part) && !paths.has(part.url)) paths.set(part.url, pathOf(index, partIndex))
    }
  }
  return paths
}

function isRemote(part: Part): part is Part & { readonly type: 'image' } {
  return part.type === 'image' && !/^data:/i.test(part.url)
}

async function fetchAll(
  paths: ReadonlyMap<string, string>,
  signal: AbortLike,
  network: NetworkOverrides,
  hold: ((bytes: number) => void) | undefined,
): Promise<ReadonlyMap<string, string>> {
  const images = new Map<string, string>()
  const controller = new AbortController()
  const timeout = AbortSignal.timeout(network.timeoutMs ?? defaultTimeoutMs)
  const removeListener = onAbort(signal, () => controller.abort(signal.reason))
  const abort = AbortSignal.any([timeout, controller.signal])
  const budget: ImageBudget = { bytes: maxTotalBytes, hold }
  const queue = paths.entries()
  const fetchNext = async () => {
    // The iterator is shared: each worker takes the next URL.
    for (const [url, path] of queue) {
      const fetching = fetchImage(url, budget, abort, network)
      images.set(url, await fetching.catch((error) => Promise.reject(toApiError(error, path, timeout))))
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(maxConcurrent, paths.size) }, fetchNext))
    return images
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  } finally {
    removeListener()
    controller.abort()
  }
}

function toApiError(error: unknown, path: string, timeout: AbortSignal): ApiError {
  if (error instanceof ApiError) return error
  const reason = error instanceof ImageError ? error.message : connectionFailure(timeout)
  return badRequest(`Invalid '${path}': ${reason}.`, 'invalid_image_url', path)
}

function connectionFailure(timeout: AbortSignal): string {
  return timeout.aborted ? 'the image was not received in time' : 'the connection to the image host was lost'
}

function inlineImages(message: Message, images: ReadonlyMap<string, string>): Message {
  if (!message.parts.some(isRemote)) return message
  const parts = message.parts.map((part) =>
    isRemote(part) ? { ...part, url: images.get(part.url) ?? part.url } : part,
  )
  return { ...message, parts }
}
