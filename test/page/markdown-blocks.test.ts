import { describe, expect, test } from 'bun:test'
import { type Block, BlockSplitter } from '../../src/page/components/markdown-blocks.ts'
import { visibleText } from '../../src/page/components/format.ts'

const text = [
  '# Title\n\nA paragraph\nof two lines.\n\n',
  '1. one\n\n   more of one\n\n2. two\n\n',
  '```ts\nconst a = 1\n\nconst b = 2\n```\nAfter the code.\n\n',
  '~~~\n``` is not the end\n~~~\n',
  '````md\n```\ninner\n```\n````\n\n',
  'Last paragraph',
].join('')

function split(parts: readonly string[]): readonly Block[] {
  const splitter = new BlockSplitter()
  for (const part of parts) splitter.push(part)
  return splitter.rest === undefined ? splitter.blocks : [...splitter.blocks, splitter.rest]
}

describe('a growing answer', () => {
  test('is divided at blank lines and at blocks of code', () => {
    expect(split([text]).map(({ kind, source, language }) => [kind, language, source])).toEqual([
      ['markdown', '', '# Title\n\n'],
      ['markdown', '', 'A paragraph\nof two lines.\n\n'],
      ['markdown', '', '1. one\n\n   more of one\n\n'],
      ['markdown', '', '2. two\n\n'],
      ['code', 'ts', 'const a = 1\n\nconst b = 2\n'],
      ['markdown', '', 'After the code.\n\n'],
      ['code', '', '``` is not the end\n'],
      ['code', 'md', '```\ninner\n```\n'],
      ['markdown', '', '\nLast paragraph'],
    ])
  })

  test('has the same blocks wherever its stream is cut', () => {
    const whole = split([text])
    for (const size of [1, 2, 3, 5, 7, 16]) {
      expect(split(text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [])).toEqual(whole)
    }
  })

  test('never changes a block that was complete', () => {
    const splitter = new BlockSplitter()
    let before: readonly Block[] = []
    for (const character of text) {
      splitter.push(character)
      expect(splitter.blocks.slice(0, before.length)).toEqual([...before])
      before = [...splitter.blocks]
    }
  })

  test.each([
    ['one paragraph without a space', 'x'.repeat(100_000)],
    ['one paragraph of words', 'word '.repeat(20_000)],
    ['one block of code', `\`\`\`\n${'a line of code\n'.repeat(7000)}`],
    ['one block of code without a line', `\`\`\`\n${'x'.repeat(100_000)}`],
    ['blank lines', '\n'.repeat(100_000)],
    ['indented lines', 'a\n\n    '.repeat(12_000)],
    ['openings of code', '```\n'.repeat(25_000)],
  ])('keeps its last block small and loses nothing: %s', (_, source) => {
    const splitter = new BlockSplitter()
    let largest = 0
    for (let index = 0; index < source.length; index += 500) {
      splitter.push(source.slice(index, index + 500))
      largest = Math.max(largest, splitter.rest?.source.trim().length ?? 0)
    }
    expect(largest).toBeLessThan(5000)
    const kept = [...splitter.blocks, splitter.rest].map((block) => block?.source ?? '').join('')
    expect(kept.replaceAll(/[\s`]/g, '')).toBe(source.replaceAll(/[\s`]/g, ''))
  })
})

test('control characters and overrides of the direction are visible, and text of any language stays', () => {
  expect(visibleText('\u001b[31m \u0000 \u009b \u202Etxt.exe \u2066x')).toBe(
    '␛[31m ␀ [U+009B] [U+202E]txt.exe [U+2066]x',
  )
  const plain = 'שלום, Ελλάδα, 日本語 👩‍👩‍👧 \t\nناقص'
  expect(visibleText(plain)).toBe(plain)
})
