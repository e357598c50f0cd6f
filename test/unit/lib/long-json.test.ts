import { expect, test } from 'bun:test'
import { LongJson, LongValueError, maxValueLength } from '../../../src/lib/json/long-json.ts'

const maxDepth = 100

/** Reads the text with all its steps; the values are wrapped, and undefined stays undefined. */
function read(text: string, name = 'embedding') {
  const lengths: number[] = []
  const json = new LongJson(text, name, (value, part) => {
    lengths.push(part.length)
    return value === undefined ? undefined : { value }
  })
  const perStep: number[] = []
  for (let more = true; more;) {
    more = json.step()
    perStep.push(lengths.splice(0).reduce((sum, length) => sum + length, 0))
  }
  return { body: json.parseRest(maxDepth), perStep }
}

const numbers = Array.from({ length: 1536 }, (_, index) => Math.sin(index))
const listOf = (embeddings: readonly unknown[]) =>
  embeddings.map((embedding, index) => ({ object: 'embedding', index, embedding }))

test.each<[string, unknown]>([
  ['numbers', numbers],
  ['text', Buffer.from(new Float32Array(numbers).buffer).toString('base64')],
])(
  'a step reads about as much of a thousand embeddings of %s as another, and all of them everything',
  (_, embedding) => {
    const many: unknown[] = Array(1000).fill(embedding)
    const text = JSON.stringify({ object: 'list', data: listOf(many), model: 'm' })
    const { body, perStep } = read(text)
    expect(body).toEqual({ object: 'list', data: listOf(many.map((value) => ({ value }))), model: 'm' })
    expect(Math.max(...perStep)).toBeLessThan(320 * 1024)
    expect(perStep.reduce((sum, length) => sum + length)).toBe(JSON.stringify(embedding).length * 1000)
  },
)

test('spaces, other types and repeated names change nothing', () => {
  const text = `{ "data" : [ {"embedding"\n :\t[ 1 , 2 ]}, {"embedding": null}, {"embedding":[3],"embedding":[4]},
    {"note":"\\"embedding\\":[5]","embedding":"a\\"]b"}, {"embedding":{"embedding":[6]}} ] }`
  expect(read(text).body).toEqual({
    data: [
      { embedding: { value: [1, 2] } },
      { embedding: null },
      { embedding: { value: [4] } },
      { note: '"embedding":[5]', embedding: { value: 'a"]b' } },
      { embedding: { embedding: { value: [6] } } },
    ],
  })
})

test('a value that is not valid is absent, and a text that is not JSON has no body', () => {
  expect(read('{"data":[{"embedding":[1,}]}, 2]},{"embedding":[7]}]}').body).toBeUndefined()
  expect(read('{"data":[{"embedding":[1,,2]},{"embedding":[7]}]}').body).toEqual({
    data: [{}, { embedding: { value: [7] } }],
  })
  for (const text of ['', '{"embedding":', '{"embedding":[1', '{"embedding":"a', '{"embedding":[[1],[2]]}'])
    expect(read(text).body).toBeUndefined()
})

test.each([
  ['one long list', `{"embedding":[${'1,'.repeat(maxValueLength / 2)}1]}`],
  ['a list without an end', `{"embedding":[${'1,'.repeat(maxValueLength)}`],
  ['a long text', `{"embedding":"${'a'.repeat(maxValueLength)}"}`],
  ['much else', `{"data":[${'{},'.repeat(maxValueLength)}{}]}`],
  ['very many empty lists', `{"data":[${'{"embedding":[]},'.repeat(200_000)}{}]}`],
  ['deep nesting', '['.repeat(maxDepth + 1)],
])('%s is not parsed', (_, text) => {
  expect(() => read(text)).toThrow(LongValueError)
})
