import { describe, expect, test } from 'bun:test'
import { parseYaml } from '../../../src/config/yaml.ts'
import { problemsOf } from './support/temporary-home.ts'

const repeat = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n')

const bombs: readonly [name: string, text: string, message: string][] = [
  ['deep nesting', `a: ${'['.repeat(200_000)}`, 'The file is nested too deeply. This is not valid YAML.'],
  [
    'aliases that multiply',
    repeat(40, (n) => `a${n}: &a${n} [${n === 0 ? 'x' : Array(9).fill(`*a${n - 1}`)}]`),
    'The aliases (*) of the file have too many values.',
  ],
  [
    'merges that multiply',
    repeat(
      40,
      (n) => `m${n}: &m${n} { x: { <<: *m${Math.max(0, n - 1)} }, y: { <<: *m${Math.max(0, n - 1)} } }`,
    ).replace(/^.*/, 'm0: &m0 { z: 1 }'),
    'The aliases (*) of the file have too many values.',
  ],
  ['an alias of itself', 'a: &a [*a]', 'This alias (*) has no anchor (&) before it. This is not valid YAML.'],
  [
    'mappings as keys',
    '? {? {? {a: 1} : 1} : 1}\n: 1',
    'The name of a setting cannot be a list, a mapping or an alias. This is not valid YAML.',
  ],
  ['a merge of a list', 'a: &a [1]\nb: { <<: *a }', '“<<” must name a mapping. This is not valid YAML.'],
]

describe('hostile YAML is rejected with a sentence', () => {
  test.each(bombs)('%s', (_, text, message) => {
    const { value, problems } = parseYaml(text)
    expect([value, problems.map((problem) => problem.message)]).toEqual([undefined, [message]])
  })
})

test('a file with a mistake in each line reports the first twenty', () => {
  const { problems } = parseYaml(repeat(1000, () => 'a: @x'))
  expect(problems.map(({ line }) => line)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1))
})

test('each of many duplicate keys is found, with the position of the second one', () => {
  const { value, duplicates } = parseYaml('a: 1\nb: { c: 1, c: 2 }\na: 3\n"a": 4\n')
  expect(value).toEqual({ a: 4, b: { c: 2 } })
  expect(duplicates.map(({ path, line, column }) => [path, line, column])).toEqual([
    ['b.c', 2, 12],
    ['a', 3, 1],
    ['a', 4, 1],
  ])
})

test('an anchor may be used as often as a large configuration needs', () => {
  const text = `base: &base { kind: vllm }\n${repeat(3000, (n) => `p${n}: { <<: *base, n: ${n} }`)}`
  const { value, problems } = parseYaml(text)
  expect(problems).toEqual([])
  expect(value).toMatchObject({ p2999: { kind: 'vllm', n: 2999 } })
})

test('no message of a syntax error shows a part of the file', () => {
  const damaged = [
    '- a\ncanary: 1',
    'a: "\\canary"',
    'a: !canary x',
    'a: |canary\n x',
    '%canary\n---\na: @canary',
    'a: *canary',
  ]
  for (const text of damaged) expect(JSON.stringify(parseYaml(text).problems)).not.toContain('canary')
})

test('a settings file of more than 1 MiB is rejected before it is parsed', () => {
  const { problems } = problemsOf(`# ${'x'.repeat(1024 * 1024)}`)
  expect(problems).toEqual([' | The file has more than 1 MiB, which no settings have.'])
})
