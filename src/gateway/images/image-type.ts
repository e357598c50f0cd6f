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
