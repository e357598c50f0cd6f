import { expect, test } from 'bun:test'
import { anthropic, vertexAnthropic } from '../../../src/providers/kinds/anthropic.ts'

const target = (stream: boolean) => ({ model: 'claude-3-7-sonnet@20250219', stream })
const nowhere = { baseUrl: '' }

test('Anthropic is called at one path, with its key and its version in headers', () => {
  expect(anthropic.path(target(true), nowhere)).toBe('/v1/messages')
  expect(anthropic.authorize('k')).toEqual({ 'x-api-key': 'k' })
  expect(anthropic.headers).toEqual({ 'anthropic-version': '2023-06-01' })
  expect(anthropic).toMatchObject({
    baseUrl: 'https://api.anthropic.com',
    keyVariables: ['ANTHROPIC_API_KEY'],
  })
})

test('Vertex is called at a path of the model, another one for a stream, with a token', () => {
  const path = '/publishers/anthropic/models/claude-3-7-sonnet@20250219'
  expect(vertexAnthropic.path(target(false), nowhere)).toBe(`${path}:rawPredict`)
  expect(vertexAnthropic.path(target(true), nowhere)).toBe(`${path}:streamRawPredict`)
  expect(vertexAnthropic.authorize('k')).toEqual({ authorization: 'Bearer k' })
})

test('a model name with a slash is one segment of the path', () => {
  const path = vertexAnthropic.path({ model: 'a/../b', stream: false }, nowhere)
  expect(path).toBe('/publishers/anthropic/models/a%2F..%2Fb:rawPredict')
})
