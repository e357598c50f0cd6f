import { describe, expect, test } from 'bun:test'
import { AbortSource, onAbort } from '../../../src/lib/abort.ts'

test('an abort source notifies once, with the first reason', () => {
  const stop = new AbortSource()
  const heard: unknown[] = []
  stop.addEventListener('abort', () => heard.push(stop.reason))
  expect(stop.aborted).toBe(false)
  stop.abort('first')
  stop.abort('second')
  expect(heard).toEqual(['first'])
  expect([stop.aborted, stop.reason]).toEqual([true, 'first'])
})

test('a listener that unsubscribes is not called, also while others are being called', () => {
  const stop = new AbortSource()
  const heard: string[] = []
  const letGo = onAbort(stop, () => heard.push('gone'))
  onAbort(stop, () => heard.push('first'))
  onAbort(stop, () => heard.push('second'))
  letGo()
  letGo()
  stop.abort(undefined)
  expect(heard).toEqual(['first', 'second'])
})

test('a listener that another one removes during the abort is not called any more', () => {
  const stop = new AbortSource()
  const heard: string[] = []
  onAbort(stop, () => {
    heard.push('first')
    letGo()
  })
  const letGo = onAbort(stop, () => heard.push('second'))
  onAbort(stop, () => heard.push('third'))
  stop.abort(undefined)
  expect(heard).toEqual(['first', 'third'])
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
    let heard = 0
    onAbort(stop, () => heard++)
    expect(heard).toBe(0)
    stop.abort('why')
    expect([heard, stop.reason]).toEqual([1, 'why'])
  })

  test('notifies a listener that is added after the abort immediately', () => {
    const stop = make()
    stop.abort('why')
    let heard = 0
    onAbort(stop, () => heard++)()
    expect(heard).toBe(1)
  })
})

function nativeStop() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: (reason: unknown) => controller.abort(reason) }
}
