import { expect, test } from 'bun:test'
import { createEnding } from '../../src/gateway/ending.ts'

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
