import { ImageError, type NetworkOverrides, pinnedFetch } from './pinned-fetch.ts'

/**
 * The bytes that may still be fetched for one request. `hold` reserves the memory of each chunk before it is
 * stored.
 */
export type ImageBudget = { bytes: number; readonly hold?: ((bytes: number) => void) | undefined }

const megabyte = 1024 * 1024
const maxImageBytes = 20 * megabyte
const maxRedirects = 3

/** Fetches the image at an https URL as a data URL; rejects with `ImageError` if it cannot be used. */
export async function fetchImage(
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
  if (type === undefined) throw new ImageError(noImageReason)
  return `data:${type};base64,${bytes.toString('base64')}`
}

const noImageReason = 'the URL does not lead to a PNG, JPEG, WebP, GIF, HEIC or HEIF image'

/** Every address on the way has to follow the same rules. */
async function followRedirects(
  url: string,
  signal: AbortSignal,
  network: NetworkOverrides,
): Promise<Response> {
  let location: URL | null = URL.parse(url)
  for (let redirects = 0; location !== null && redirects <= maxRedirects; redirects++) {
    const response = await pinnedFetch(location, signal, network)
    if (![301, 302, 303, 307, 308].includes(response.status)) return response
    await response.body?.cancel()
    location = URL.parse(response.headers.get('location') ?? 'nowhere://', location.href)
  }
  throw new ImageError(location === null ? 'it is not a valid URL' : 'the URL redirects too many times')
}

async function rejectResponse(response: Response, reason: string): Promise<ImageError> {
  await response.body?.cancel()
  return new ImageError(reason)
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
    if (length > maxImageBytes) throw new ImageError(tooLargeReason)
    if (budget.bytes < 0) throw new ImageError(totalTooLargeReason)
    budget.hold?.(chunk.byteLength)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The reason for images that exceed the total. */
export const totalTooLargeReason = 'the images of this request are too large in total'
const tooLargeReason = `the image is larger than ${maxImageBytes / megabyte} MiB`

/** The media type of an image by its first bytes; undefined for a type that no model accepts. */
export function imageTypeOf(bytes: Uint8Array): string | undefined {
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
