import { expect, test } from 'bun:test'
import { createLineWriter } from '../../../src/observability/request-log/line-writer.ts'

/** An output that takes what is written only when it is told to. */
function slowSink() {
  const taken: string[] = []
  const waiting: (() => void)[] = []
  return {
    taken,
    sink: {
      write(text: string, written: () => void) {
        taken.push(text)
        waiting.push(written)
      },
    },
    accept: () => waiting.shift()?.(),
  }
}

const missed = (lines: number) => `missed ${lines}`
const turn = () => new Promise(setImmediate)

test('the lines of one turn of the event loop are one write', async () => {
  const { sink, taken } = slowSink()
  const writer = createLineWriter(sink, missed)
  writer.write('one')
  writer.write('two')
  expect(taken).toEqual([])
  await turn()
  expect(taken).toEqual(['one\ntwo\n'])
})

test('while a write is in progress the lines wait, and are then written together', async () => {
  const { sink, taken, accept } = slowSink()
  const writer = createLineWriter(sink, missed)
  writer.write('one')
  await turn()
  writer.write('two')
  await turn()
  writer.write('three')
  await turn()
  expect(taken).toEqual(['one\n'])
  accept()
  expect(taken).toEqual(['one\n', 'two\nthree\n'])
})

test('the backlog of a blocked reader is bounded, and the loss is reported when it reads again', async () => {
  const { sink, taken, accept } = slowSink()
  const writer = createLineWriter(sink, missed, 10)
  writer.write('first')
  await turn()
  for (const line of ['12345', '6789', 'lost', 'lost too']) writer.write(line)
  expect(writer.dropped()).toBe(2)
  accept()
  expect(taken).toEqual(['first\n', 'missed 2\n12345\n6789\n'])
  accept()
  writer.write('last')
  await turn()
  expect(taken.at(-1)).toBe('last\n')
  expect(writer.dropped()).toBe(2)
})

test('a flush resolves when everything is written', async () => {
  const { sink, taken, accept } = slowSink()
  const writer = createLineWriter(sink, missed)
  writer.write('one')
  let flushed = false
  const flush = writer.flush(60_000).then(() => (flushed = true))
  expect(taken).toEqual(['one\n'])
  await turn()
  expect(flushed).toBe(false)
  accept()
  await flush
})

test('a flush times out on an output that is never read', async () => {
  const writer = createLineWriter({ write: () => {} }, missed)
  writer.write('one')
  await writer.flush(1)
})
