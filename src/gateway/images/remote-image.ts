import type { Generation, Message, Part } from '../../domain/generation/request.ts'
import { type AbortLike, onAbort } from '../../lib/abort.ts'
import { ApiError, badRequest } from '../../lib/errors/errors.ts'
import { type NetworkOverrides, pinnedFetch, RejectedUrl } from '../../lib/pinned-fetch.ts'

/** For all images of a request. */
const defaultTimeoutMs = 20_000
const maxConcurrent = 8
const maxTotalBytes = 64 * 1024 * 1024

/**
 * Returns the generation with its remote images fetched and inlined as data URLs, each URL once. An image
 * that cannot be used is the caller's fault: a 400 that names it. `acquireMemory` is called with the size of each
 * chunk before it is stored, and ends the fetching if it throws.
 */
export async function withInlineImages(
  generation: Generation,
  signal: AbortLike,
  network: NetworkOverrides = {},
  acquireMemory?: (bytes: number) => void,
): Promise<Generation> {
  const paths = remoteImages(generation)
  if (paths.size === 0) return generation
  const images = await fetchAll(paths, signal, network, acquireMemory)
  rejectOversized(generation, images)
  return { ...generation, messages: generation.messages.map((message) => inlineImages(message, images)) }
}

/** An image that occurs several times is fetched once, and sent each time. */
function rejectOversized({ messages }: Generation, images: ReadonlyMap<string, string>): void {
  let bytes = 0
  for (const { path, part } of remoteParts(messages)) {
    bytes += ((images.get(part.url)?.length ?? 0) * 3) / 4
    if (bytes > maxTotalBytes + maxDataUrlOverhead)
      throw badRequest(`Invalid '${path}': ${totalTooLargeReason}.`, 'invalid_image_url', path)
  }
}

/** The bytes that all data URLs together may add. */
const maxDataUrlOverhead = 1024 * 1024

/** The URLs, each with the path of its first occurrence. */
function remoteImages({ messages }: Generation): ReadonlyMap<string, string> {
  const paths = new Map<string, string>()
  for (const { path, part } of remoteParts(messages)) if (!paths.has(part.url)) paths.set(part.url, path)
  return paths
}

function* remoteParts(messages: readonly Message[]) {
  for (const [index, { parts }] of messages.entries())
    for (const [partIndex, part] of parts.entries())
      if (isRemote(part)) yield { part, path: `messages[${index}].content[${partIndex}].image_url.url` }
}

function isRemote(part: Part): part is Part & { readonly type: 'image' } {
  return part.type === 'image' && !/^data:/i.test(part.url)
}

async function fetchAll(
  paths: ReadonlyMap<string, string>,
  signal: AbortLike,
  network: NetworkOverrides,
  acquireMemory: ((bytes: number) => void) | undefined,
): Promise<ReadonlyMap<string, string>> {
  const images = new Map<string, string>()
  const controller = new AbortController()
  const timeout = AbortSignal.timeout(network.timeoutMs ?? defaultTimeoutMs)
  const removeListener = onAbort(signal, () => controller.abort(signal.reason))
  const abort = AbortSignal.any([timeout, controller.signal])
  const budget: ImageBudget = { bytes: maxTotalBytes, acquireMemory }
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
  const reason = error instanceof RejectedUrl ? error.message : connectionFailure(timeout)
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

/**
 * The bytes that may still be fetched for one request. `acquireMemory` is called for each chunk before it is
 * stored.
 */
type ImageBudget = { bytes: number; readonly acquireMemory?: ((bytes: number) => void) | undefined }

const megabyte = 1024 * 1024
const maxImageBytes = 20 * megabyte
const maxRedirects = 3
/** In characters: servers accept no longer ones, and to parse one of megabytes stops all other requests. */
const maxUrlLength = 16_384

/** Fetches the image at an https URL as a data URL; rejects with `RejectedUrl` if it cannot be used. */
async function fetchImage(
  url: string,
  budget: ImageBudget,
  signal: AbortSignal,
  network: NetworkOverrides,
): Promise<string> {
  const response = await followRedirects(url, signal, network)
  if (!response.ok) throw await rejectResponse(response, `the image host returned status ${response.status}`)
  const contentType = response.headers.get('content-type') ?? ''
  if (!/^image\//i.test(contentType)) throw await rejectResponse(response, noImageReason)
  const bytes = await readBytes(response, budget)
  const type = imageTypeOf(bytes)
  if (type === undefined) throw new RejectedUrl(noImageReason)
  return `data:${type};base64,${bytes.toString('base64')}`
}

const noImageReason = 'the URL does not lead to a PNG, JPEG, WebP, GIF, HEIC or HEIF image'

const imageRequest = { host: 'image host', headers: { accept: 'image/*' } }

/** Every address on the way has to follow the same rules. */
async function followRedirects(
  url: string,
  signal: AbortSignal,
  network: NetworkOverrides,
): Promise<Response> {
  if (url.length > maxUrlLength) throw new RejectedUrl(`the URL is longer than ${maxUrlLength} characters`)
  let location: URL | null = URL.parse(url)
  for (let redirects = 0; location !== null && redirects <= maxRedirects; redirects++) {
    const response = await pinnedFetch(location, imageRequest, signal, network)
    if (![301, 302, 303, 307, 308].includes(response.status)) return response
    await response.body?.cancel()
    location = URL.parse(response.headers.get('location') ?? 'nowhere://', location.href)
  }
  throw new RejectedUrl(location === null ? 'it is not a valid URL' : 'the URL redirects too many times')
}

async function rejectResponse(response: Response, reason: string): Promise<RejectedUrl> {
  await response.body?.cancel()
  return new RejectedUrl(reason)
}

async function readBytes(response: Response, budget: ImageBudget): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let length = Number(response.headers.get('content-length') ?? 0)
  // Leaving the loop cancels the rest of the body.
  if (length > maxImageBytes) throw await rejectResponse(response, tooLargeReason)
  length = 0
  for await (const chunk of response.body ?? []) {
    length += chunk.byteLength
    budget.bytes -= chunk.byteLength
    if (length > maxImageBytes) throw new RejectedUrl(tooLargeReason)
    if (budget.bytes < 0) throw new RejectedUrl(totalTooLargeReason)
    budget.acquireMemory?.(chunk.byteLength)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The reason for images that exceed the total. */
const totalTooLargeReason = 'the images of this request are too large in total'
const tooLargeReason = `the image is larger than ${maxImageBytes / megabyte} MiB`

/** The media type of an image by its first bytes; undefined for a type that no model accepts. */
function imageTypeOf(bytes: Uint8Array): string | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 16)).toString('latin1')
  return signatures.find(([pattern]) => pattern.test(text))?.[1]
}

const signatures: readonly (readonly [RegExp, string])[] = [
  [/^\x89PNG\r\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^RIFF[^]{4}WEBP/, 'image/webp'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^[^]{4}ftyp(heic|heix|hevc|hevx|heim|heis)/, 'image/heic'],
  [/^[^]{4}ftyp(mif1|msf1)/, 'image/heif'],
]
