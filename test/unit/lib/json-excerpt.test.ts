import { expect, test } from 'bun:test'
import { excerptOf } from '../../../src/lib/json/excerpt.ts'

test('a value within the limit is copied as it is', () => {
  const value = { model: 'river', messages: [{ role: 'user', content: 'Hello 🌍' }], stream: false, n: null }
  expect(excerptOf(value, 1000)).toEqual(value)
})

test('of a long conversation the last messages stay, and the copy says how many it lacks', () => {
  const messages = Array.from({ length: 100 }, (_, index) => ({ content: `message ${index}` }))
  const { messages: kept } = excerptOf({ messages }, 300) as { messages: unknown[] }
  expect(kept.at(-1)).toEqual({ content: 'message 99' })
  expect(kept[0]).toBe(`… (${101 - kept.length} more items)`)
  expect(kept.length).toBeGreaterThan(5)
})

test('a long text is cut between characters, and properties after it are counted', () => {
  const excerpt = excerptOf({ text: `${'word '.repeat(20)}🌍${' word'.repeat(20)}`, model: 'river' }, 112)
  expect(excerpt).toEqual({
    text: `${'word '.repeat(20)}… (102 more characters)`,
    '…': '(1 more properties)',
  })
})

test('a value of any size takes hardly more than the limit', () => {
  const hostile = Object.fromEntries(
    Array.from({ length: 5000 }, (_, index) => [`${index}`.repeat(50), [index, 'x', {}]]),
  )
  for (const value of [hostile, 'x'.repeat(1e6), [['y'.repeat(1e6)], hostile]])
    expect(JSON.stringify(excerptOf(value, 2000)).length).toBeLessThan(4000)
})

const file = 'iVBORw0KGgo'.repeat(100)

test.each([
  ['a data URL', { url: `data:image/png;base64,${file}` }, { url: 'data:image/png… (825 bytes)' }],
  [
    'the data of a block',
    { data: file, media_type: 'image/png' },
    { data: '… (825 bytes)', media_type: 'image/png' },
  ],
  ['a file', { file_data: file }, { file_data: '… (825 bytes)' }],
])('%s is replaced by its type and size', (_, value, excerpt) => {
  expect(excerptOf(value, 10_000)).toEqual(excerpt)
})

test.each([
  ['a text about data', { content: 'data: hello, world' }],
  [
    'a text in the property of files',
    { data: 'A sentence that is no file, however long it may be. '.repeat(9) },
  ],
  ['a property of a schema', { authorization: { type: 'string' }, required: ['api_key'] }],
  ['a sentence about a bearer', { content: 'Bearer of bad news', name: 'the authorization of a person' }],
  ['a text of two words', { messages: [{ content: 'Basic questions' }, { content: 'Bearer tokens?' }] }],
])('%s stays', (_, value) => {
  expect(excerptOf(value, 10_000)).toEqual(value)
})

const server = { type: 'url', url: 'https://mcp.example', name: 'files' }

test.each([
  ['authorization_token', 'secret'],
  ['authorization', 'secret'],
  ['Authorization', 'secret'],
  ['api_key', 'secret'],
  ['X-API-Key', 'secret'],
  ['accessToken', 'secret'],
  ['anything', 'Bearer 0123456789abcdef0123'],
  ['anything', 'basic YWRhOmEgbG9uZyBwYXNzd29yZA=='],
])('the credential %s for another service is left out', (name, value) => {
  const excerpt = excerptOf({ mcp_servers: [{ ...server, [name]: value }] }, 1000)
  expect(excerpt).toEqual({ mcp_servers: [{ ...server, [name]: '…' }] })
})

test('headers for another service are left out, and a schema of headers stays', () => {
  const headers = { 'X-Anything': 'secret', accept: 'text/plain' }
  const schema = { type: 'object', description: 'The headers to send.' }
  const listed = [{ name: 'X-Anything', value: 'secret' }]
  const value = {
    tools: [
      { ...server, headers },
      { ...server, headers: listed },
      { ...server, http_headers: [['X-Anything', 'secret']] },
    ],
    input_schema: { properties: { headers: schema }, required: ['headers'] },
  }
  expect(excerptOf(value, 1000)).toEqual({
    ...value,
    tools: [
      { ...server, headers: { 'X-Anything': '…', accept: '…' } },
      { ...server, headers: '…' },
      { ...server, http_headers: '…' },
    ],
  })
})
