import { fieldsOf, textOf } from '../../lib/json/json.ts'
import { nameSet } from '../../lib/text.ts'

/** In hertz. At a lower rate, hours of samples would have few bytes. */
const minSampleRate = 4000

/**
 * Whether the audio of an `input_audio` part has at least a byte for each of its tokens, of which providers count some dozen
 * a second: WAV of uncompressed samples, and MP3, which has a lowest bit rate. In any other format, hours of silence may take
 * a few kilobytes, and the length in its header need not be the true one.
 */
export function hasByteForEachToken(inputAudio: unknown): boolean {
  const { data: written, format } = fieldsOf(inputAudio)
  if (typeof format === 'string' && !boundedFormats.has(format)) return false
  const data = textOf(written) ?? ''
  const base64 = /^data:/i.test(data) ? data.slice(data.indexOf(',') + 1) : data
  return isPcm(bytesAt(base64, 0)) || isMp3(base64)
}

/** A decoder for another format may skip what it does not know, and find that format behind it. */
const boundedFormats = nameSet('wav wave x-wav mp3 mpeg mpga')

/** Some bytes from the offset; none where decoders differ about the text before them. */
function bytesAt(base64: string, offset: number): Buffer {
  const start = Math.floor(offset / 3) * 4
  const end = start + 80
  const valid = /^[a-z0-9+/]*={0,2}$/i.test(base64.slice(0, end))
  return Buffer.from(valid ? base64.slice(start, end) : '', 'base64').subarray(offset % 3)
}

/** The format tags of integers and of floats. */
const pcmTags: ReadonlySet<number> = new Set([1, 3])
/** The real tag is in an extension. */
const extensibleTag = 0xff_fe

/** A WAV file that begins with the description of its samples. */
function isPcm(head: Buffer): boolean {
  if (head.length < 36) return false
  if (head.toString('latin1', 0, 4) !== 'RIFF' || head.toString('latin1', 8, 16) !== 'WAVEfmt ') return false
  const tag = head.readUInt16LE(20)
  const isExtended = tag === extensibleTag && head.length >= 48
  return pcmTags.has(isExtended ? head.readUInt32LE(44) : tag) && head.readUInt32LE(24) >= minSampleRate
}

/** The bytes of the tag that most files begin with, before those that it declares. */
const tagHeader = 10

/** A file that begins with a frame of MPEG audio, or with a tag and then a frame. */
function isMp3(base64: string): boolean {
  const head = bytesAt(base64, 0)
  if (head.toString('latin1', 0, 3) !== 'ID3' || head.length < tagHeader) return isMpegFrame(head)
  const size = head.subarray(6, tagHeader).reduce((sum, byte) => sum * 128 + (byte & 127), 0)
  return isMpegFrame(bytesAt(base64, tagHeader + size))
}

/** A frame header with a version, a layer, a bit rate and a sample rate: AAC has no layer in the same place. */
function isMpegFrame([first = 0, second = 0, third = 0]: Uint8Array): boolean {
  const hasSync = first === 255 && second >= 224
  const [version, layer, bitRate, sampleRate] = [
    (second >> 3) & 3,
    (second >> 1) & 3,
    third >> 4,
    (third >> 2) & 3,
  ]
  return hasSync && version !== 1 && layer !== 0 && bitRate > 0 && bitRate < 15 && sampleRate < 3
}
