import { describe, expect, test } from 'bun:test'
import { AbortSource, onAbort } from '../../../src/lib/abort.ts'

test('a stop is heard once, with the first reason', () => {
  const stop = new AbortSource()
  const heard: unknown[] = []
  stop.addEventListener('abort', () => heard.push(stop.reason))
  expect(stop.aborted).toBe(false)
  stop.abort('first')
  stop.abort('second')
  expect(heard).toEqual(['first'])
  expect([stop.aborted, stop.reason]).toEqual([true, 'first'])
})

test('who lets go hears nothing, also while others hear', () => {
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

test('who is let go by another who hears it does not hear it any more', () => {
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
  test('is heard by who comes before it', () => {
    const stop = make()
    let heard = 0
    onAbort(stop, () => heard++)
    expect(heard).toBe(0)
    stop.abort('why')
    expect([heard, stop.reason]).toEqual([1, 'why'])
  })

  test('is heard at once by who comes after it', () => {
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
