import { expect, test } from 'bun:test'
import { createEnding, leavable } from '../../src/gateway/ending.ts'

function call({ left = false, broken = false } = {}) {
  const ends: unknown[] = []
  const failures: unknown[] = []
  const leaving = new AbortController()
  if (left) leaving.abort()
  const end = async (error: unknown) => {
    ends.push(error)
    if (broken) throw new Error('The disk is full.')
  }
  const ending = createEnding(leaving.signal, end, (error) => void failures.push(error))
  return { ends, failures, leaving, ending }
}

test('only the first end counts, and later ones wait for it', async () => {
  const { ends, leaving, ending } = call()
  const first = ending.over()
  expect(ending.over(new Error('late'))).toBe(first)
  leaving.abort()
  await first
  expect(ends).toEqual([undefined])
})

test('an error that ends the call is told', async () => {
  const { ends, ending } = call()
  const error = new Error('broken')
  await ending.over(error)
  expect(ends).toEqual([error])
})

test.each([false, true])('a caller who leaves ends the call; before it began: %p', async (left) => {
  const { ends, failures, leaving, ending } = call({ left })
  leaving.abort()
  await ending.over()
  expect(ends).toEqual([expect.objectContaining({ code: 'client_gone', status: 499 })])
  expect(failures).toEqual([])
})

test('an end that fails is heard of, also where nobody waits for it', async () => {
  const { failures, leaving, ending } = call({ broken: true })
  leaving.abort()
  await expect(ending.over()).rejects.toThrow('The disk is full.')
  expect(failures).toEqual([expect.objectContaining({ message: 'The disk is full.' })])
})

test('a generator that is returned before its first step is left', async () => {
  let left = 0
  async function* numbers() {
    yield 1
    yield 2
  }
  const unread = leavable(numbers(), () => void (left += 1))
  expect(await unread.return(undefined)).toEqual({ done: true, value: undefined })
  expect([left, await unread.next()]).toEqual([1, { done: true, value: undefined }])

  const read: number[] = []
  for await (const number of leavable(numbers(), () => void (left += 1))) read.push(number)
  expect([left, read]).toEqual([1, [1, 2]])

  for await (const number of leavable(numbers(), () => void (left += 1))) if (number === 1) break
  expect(left).toBe(2)
})
