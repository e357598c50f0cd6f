import { ImageRefused, type NetworkOverrides, pinnedFetch } from './pinned-fetch.ts'

/** How many bytes may still be fetched for one question, less with every piece, which `hold` hears of before it is kept. */
export type Allowance = { bytes: number; readonly hold?: ((bytes: number) => void) | undefined }

const megabyte = 1024 * 1024
const largestImage = 20 * megabyte
const mostRedirects = 3

/** The image at an https URL as a data URL; rejects with `ImageRefused` where there is none that can be used. */
export async function fetchImage(
  url: string,
  allowance: Allowance,
  signal: AbortSignal,
  surroundings: NetworkOverrides,
): Promise<string> {
  const response = await followRedirects(url, signal, surroundings)
  if (!response.ok)
    throw await refusal(response, `the host of the image answered with status ${response.status}`)
  const claimed = response.headers.get('content-type') ?? ''
  if (!/^image\//i.test(claimed)) throw await refusal(response, noImage)
  const bytes = await readBytes(response, allowance)
  const type = imageTypeOf(bytes)
  if (type === undefined) throw new ImageRefused(noImage)
  return `data:${type};base64,${bytes.toString('base64')}`
}

const noImage = 'there is no image at this address (png, jpeg, webp, gif, heic or heif)'

/** Every address on the way is held to the same rules. */
async function followRedirects(
  url: string,
  signal: AbortSignal,
  surroundings: NetworkOverrides,
): Promise<Response> {
  let place: URL | null = URL.parse(url)
  for (let redirects = 0; place !== null && redirects <= mostRedirects; redirects++) {
    const response = await pinnedFetch(place, signal, surroundings)
    if (![301, 302, 303, 307, 308].includes(response.status)) return response
    await response.body?.cancel()
    place = URL.parse(response.headers.get('location') ?? 'nowhere://', place.href)
  }
  throw new ImageRefused(place === null ? 'this is not an address' : 'the address redirects too often')
}

async function refusal(response: Response, sentence: string): Promise<ImageRefused> {
  await response.body?.cancel()
  return new ImageRefused(sentence)
}

async function readBytes(response: Response, allowance: Allowance): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let length = Number(response.headers.get('content-length') ?? 0)
  // Leaving the loop cancels the rest of the body.
  if (length > largestImage) throw await refusal(response, tooLarge)
  length = 0
  for await (const piece of response.body ?? []) {
    length += piece.byteLength
    allowance.bytes -= piece.byteLength
    if (length > largestImage) throw new ImageRefused(tooLarge)
    if (allowance.bytes < 0) throw new ImageRefused(tooLargeTogether)
    allowance.hold?.(piece.byteLength)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

/** What is said of images that are too large together. */
export const tooLargeTogether = 'the images of this request are too large together'
const tooLarge = `the image is larger than ${largestImage / megabyte} MiB`

/** The media type of an image by its first bytes; undefined for what no model takes as an image. */
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
