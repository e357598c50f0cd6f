import { expect, test } from 'bun:test'
import type { Generation } from '../../../src/domain/generation/request.ts'
import { maxPromptTokens } from '../../../src/gateway/billing/prompt-tokens.ts'

const model = { contextWindow: 200_000, routes: [] }

function tokensOf(bytes: Uint8Array | string, format?: string, head = ''): number {
  const data = head + Buffer.from(bytes).toString('base64')
  const value = { type: 'input_audio', input_audio: { data, format } }
  const parts = [{ type: 'foreign', value }] as const
  const generation: Generation = { messages: [{ role: 'user', parts }], tools: [], extras: {} }
  return maxPromptTokens(generation, model)
}

const silence = Buffer.alloc(1000)
const flac = Buffer.concat([Buffer.from('fLaC'), silence])
const mp3 = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0]), silence])

/** The beginning of a WAV file: the format tag, that of an extended description, and the sample rate. */
function wav({ tag = 1, extension = 1, rate = 8000 }): Buffer {
  const head = Buffer.alloc(60)
  head.write('RIFF')
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(40, 16)
  head.writeUInt16LE(tag, 20)
  head.writeUInt32LE(rate, 24)
  head.writeUInt32LE(extension, 44)
  return Buffer.concat([head, silence])
}

/** A tag with a picture of so many bytes, and what follows it. */
function tagged(audio: Uint8Array, size = 500): Buffer {
  const sizes = [0, 0, size >> 7, size & 127]
  return Buffer.concat([Buffer.from('ID3'), Buffer.from([4, 0, 0, ...sizes]), Buffer.alloc(size), audio])
}

test.each<[string, number]>([
  ['samples', tokensOf(wav({}), 'wav')],
  ['samples of floats', tokensOf(wav({ tag: 3, rate: 48_000 }), 'wav')],
  ['samples with an extended description', tokensOf(wav({ tag: 0xff_fe }), 'wav')],
  ['samples in a data URL', tokensOf(wav({}), undefined, 'data:audio/wav;base64,')],
  ['MP3', tokensOf(mp3, 'mp3')],
  ['MP3 of 8 kbit/s', tokensOf(mp3.fill(0xe3, 1, 2).fill(0x18, 2, 3), 'mp3')],
  ...[498, 499, 500].map((size): [string, number] => [
    'MP3 behind a tag',
    tokensOf(tagged(mp3, size), 'mp3'),
  ]),
])('%s have at most a token for each byte', (_, tokens) => {
  expect(tokens).toBeWithin(1000, 3000)
})

test.each<[string, number]>([
  ['FLAC', tokensOf(flac, 'flac')],
  ['FLAC that is called WAV', tokensOf(flac, 'wav')],
  ['FLAC behind the tag of MP3', tokensOf(tagged(flac), 'mp3')],
  ['Ogg', tokensOf('OggS'.padEnd(1000), 'ogg')],
  ['AAC', tokensOf(Buffer.from([0xff, 0xf1, 0x50, 0x80, ...silence]), 'mp3')],
  ['MP3 that is called AAC', tokensOf(mp3, 'aac')],
  ['MP3 of no bit rate', tokensOf(Buffer.from([0xff, 0xfb, 0, 0, ...silence]), 'mp3')],
  ['samples of a very low rate', tokensOf(wav({ rate: 1 }), 'wav')],
  ['compressed samples', tokensOf(wav({ tag: 0x11 }), 'wav')],
  [
    'compressed samples with an extended description',
    tokensOf(wav({ tag: 0xff_fe, extension: 0x11 }), 'wav'),
  ],
  ['base64 that some decoders reject', tokensOf(mp3, 'mp3', '\n')],
  ['a file at a URL', tokensOf('', undefined, 'https://audio.example/river.mp3')],
  ['nothing', tokensOf('')],
])('%s may have as many tokens as the context window', (_, tokens) => {
  expect(tokens).toBe(200_000)
})
