import { describe, expect, test } from 'bun:test'
import { AbortSource, onAbort } from '../../../src/lib/abort.ts'

test('an abort source notifies once, with the first reason', () => {
  const stop = new AbortSource()
  const received: unknown[] = []
  stop.addEventListener('abort', () => received.push(stop.reason))
  expect(stop.aborted).toBe(false)
  stop.abort('first')
  stop.abort('second')
  expect(received).toEqual(['first'])
  expect([stop.aborted, stop.reason]).toEqual([true, 'first'])
})

test('a listener that unsubscribes is not called, also while others are being called', () => {
  const stop = new AbortSource()
  const received: string[] = []
  const release = onAbort(stop, () => received.push('gone'))
  onAbort(stop, () => received.push('first'))
  onAbort(stop, () => received.push('second'))
  release()
  release()
  stop.abort(undefined)
  expect(received).toEqual(['first', 'second'])
})

test('a listener that another one removes during the abort is not called any more', () => {
  const stop = new AbortSource()
  const received: string[] = []
  onAbort(stop, () => {
    received.push('first')
    release()
  })
  const release = onAbort(stop, () => received.push('second'))
  onAbort(stop, () => received.push('third'))
  stop.abort(undefined)
  expect(received).toEqual(['first', 'third'])
})

describe.each([
  ['a stop', () => new AbortSource()],
  [
    'a signal of the platform',
    () => {
      const { signal, ...controller } = nativeStop()
      return Object.assign(signal, controller)
    },
  ],
])('%s', (_, make) => {
  test('notifies a listener that was added before the abort', () => {
    const stop = make()
    let received = 0
    onAbort(stop, () => received++)
    expect(received).toBe(0)
    stop.abort('why')
    expect([received, stop.reason]).toEqual([1, 'why'])
  })

  test('notifies a listener that is added after the abort immediately', () => {
    const stop = make()
    stop.abort('why')
    let received = 0
    onAbort(stop, () => received++)()
    expect(received).toBe(1)
  })
})

function nativeStop() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: (reason: unknown) => controller.abort(reason) }
}
