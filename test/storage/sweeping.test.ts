import { describe, expect, test } from 'bun:test'
import { createLog } from '../../src/lib/log.ts'
import { sweep } from '../../src/storage/sweeping.ts'
import { until } from '../money/books.ts'
import { startApp } from '../support/app.ts'
import { idsListed, store } from '../support/stored.ts'

/** A step with so much to do, a piece each time. */
function stepOf(name: string, pieces: number) {
  const step = { name, left: pieces, asked: 0 }
  return Object.assign(step, { run: async () => (step.asked++, step.left > 0 ? step.left-- : 0) })
}

function recordingLog() {
  const lines: string[] = []
  return { lines, log: createLog((line) => lines.push(line)) }
}

describe('a sweep', () => {
  test('runs each step until nothing is left for it', async () => {
    const { lines, log } = recordingLog()
    const steps = [stepOf('one', 3), stepOf('two', 0), stepOf('three', 1)]
    await sweep(steps, log, new AbortController().signal)
    expect(steps.map(({ left, asked }) => [left, asked])).toEqual([
      [0, 4],
      [0, 1],
      [0, 2],
    ])
    expect(lines).toEqual([])
  })

  test('goes on behind a step that fails, and says which one', async () => {
    const { lines, log } = recordingLog()
    const broken = { name: 'broken', run: () => Promise.reject(new Error('The disk is full.')) }
    const step = stepOf('one', 1)
    await sweep([broken, step], log, new AbortController().signal)
    expect(step.left).toBe(0)
    expect(lines).toHaveLength(1)
    expect(lines.join()).toContain('"step":"broken"')
  })

  test('ends when it is stopped, in silence', async () => {
    const { lines, log } = recordingLog()
    const stopping = new AbortController()
    const endless = { name: 'endless', run: async () => (stopping.abort(), 1) }
    const later = stepOf('later', 1)
    await sweep([endless, later], log, stopping.signal)
    expect(later.asked).toBe(0)
    expect(lines).toEqual([])
  })
})

const question = { model: 'weir/echo', messages: [{ role: 'user', content: 'Hello' }] }

test('with a retention, completions go when they are older', async () => {
  await using app = await startApp({ settings: { retention: { completions: '1s' } }, sweepInterval: 10 })
  await store(app, question)
  await until(async () => (await idsListed(app)).length === 0, 'the completion is gone')
  await store(app, question)
  expect(await idsListed(app)).toHaveLength(1)
  expect(app.lines).toEqual([])
})
