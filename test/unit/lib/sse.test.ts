import { expect, test } from 'bun:test'
import { type SseEvent, SseParser } from '../../../src/lib/sse.ts'

function read(...chunks: readonly (string | Uint8Array)[]): SseEvent[] {
  const parser = new SseParser()
  const events = chunks.flatMap((chunk) => parser.push(bytesOf(chunk)))
  return [...events, ...parser.end()]
}

function bytesOf(chunk: string | Uint8Array): Uint8Array {
  return typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk
}

const data = (...texts: readonly string[]) => texts.map((text) => ({ event: '', data: text }))

const bodies: Record<string, readonly [string, readonly SseEvent[]]> = {
  'plain events': ['data: a\n\ndata: b\n\n', data('a', 'b')],
  'events with names': ['event: ping\ndata: a\n\ndata: b\n\n', [{ event: 'ping', data: 'a' }, ...data('b')]],
  'a name after the data': ['data: a\nevent: ping\n\n', [{ event: 'ping', data: 'a' }]],
  CRLF: ['event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n', [{ event: 'x', data: 'a' }, ...data('b')]],
  CR: ['data: a\r\rdata: b\r\r', data('a', 'b')],
  'all line ends in turn': ['data: a\r\n\rdata: b\n\r\ndata: c\r\r\n', data('a', 'b', 'c')],
  'comments and heartbeats': [': hello\n\n:\n\ndata: a\n: between\n\n', data('a')],
  'no space after the colon': ['event:x\ndata:a\n\ndata:  b\n\n', [{ event: 'x', data: 'a' }, ...data(' b')]],
  'data of several lines': ['data: a\ndata:\ndata: b\n\n', data('a\n\nb')],
  'empty data': ['data:\n\ndata: \n\n', data('', '')],
  'a byte order mark': ['\ufeffdata: a\n\n', data('a')],
  'no blank line at the end': ['data: a\n\ndata: b\n', data('a', 'b')],
  'no line end at the end': ['data: a\n\ndata: b', data('a', 'b')],
  'a lone CR at the end': ['data: a\r', data('a')],
  'characters of two, three and four bytes': [
    'data: é日😀\n\ndata: {"x":"ß"}\n\n',
    data('é日😀', '{"x":"ß"}'),
  ],
  'other fields': ['id: 7\nretry: 10\ndatabase: no\ndata: a\n\n', data('a')],
  'a name without data': ['event: lost\n\ndata: a\n\n', data('a')],
  nothing: ['', []],
  'only blank lines': ['\n\r\n\n', []],
}

test.each(Object.entries(bodies))(
  '%s: the events are the same wherever the bytes are split',
  (_, [body, expected]) => {
    const bytes = bytesOf(body)
    expect(read(bytes)).toEqual([...expected])
    for (let first = 0; first <= bytes.length; first++) {
      expect(read(bytes.subarray(0, first), bytes.subarray(first))).toEqual([...expected])
      for (let second = first; second <= bytes.length; second++)
        expect(read(bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second))).toEqual(
          [...expected],
        )
    }
    expect(read(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual([...expected])
  },
)

test('an event is emitted with the bytes that complete it, not later', () => {
  const parser = new SseParser()
  expect(parser.push(bytesOf('data: a\n'))).toEqual([])
  expect(parser.push(bytesOf('\ndata: b'))).toEqual(data('a'))
  expect(parser.push(bytesOf('\n\n'))).toEqual(data('b'))
  expect(parser.end()).toEqual([])
})

test('bytes that are not UTF-8 do not stop the parser', () => {
  expect(read(Uint8Array.of(100, 97, 116, 97, 58, 255, 10, 10), 'data: a\n\n')).toEqual(data('\ufffd', 'a'))
})

test('an event without an end is rejected before it fills the memory', () => {
  const mebibyte = 'x'.repeat(1024 * 1024)
  const oneLine = new SseParser()
  expect(oneLine.push(bytesOf('data: '))).toEqual([])
  expect(() => pushTimes(oneLine, mebibyte, 33)).toThrow('A server-sent event is too long.')
  const manyLines = new SseParser()
  expect(() => pushTimes(manyLines, `data: ${mebibyte}\n`, 33)).toThrow('A server-sent event is too long.')
  const emptyLines = new SseParser()
  expect(() => pushTimes(emptyLines, 'data:\n'.repeat(1024), 513)).toThrow('A server-sent event is too long.')
})

test('the lines of an event do not count for the next one', () => {
  const parser = new SseParser()
  expect(pushTimes(parser, `${'data:\n'.repeat(1024)}\n`, 600)).toBe(600)
})

test('a long event below the limit is read completely, and so is a long body of short ones', () => {
  const long = 'x'.repeat(8 * 1024 * 1024)
  expect(read(`data: ${long}`, '\n\n')[0]?.data).toHaveLength(long.length)
  const parser = new SseParser()
  const events = pushTimes(parser, `data: ${'x'.repeat(1024)}\n\n`.repeat(1024), 40)
  expect(events).toBe(40 * 1024)
})

function pushTimes(parser: SseParser, text: string, times: number): number {
  let events = 0
  for (let time = 0; time < times; time++) events += parser.push(bytesOf(text)).length
  return events
}
