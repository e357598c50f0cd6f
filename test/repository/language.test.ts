import { describe, expect, test } from 'bun:test'
import { sourceFiles } from '../support/source.ts'
import { exportedDocsOf, identifiersOf, wordsOf } from '../support/source-words.ts'

// The words of an old dialect of this code, and what the field calls them instead. The list holds what is wrong in any
// identifier: it must not forbid ordinary words.

/** Not in an identifier, alone or beside other words. */
const words: Readonly<Record<string, string>> = {
  anew: 'again',
  asker: 'caller or request context',
  answering: 'stream',
  booked: 'reserved',
  booking: 'reservation',
  books: 'billing',
  heard: 'received',
  mend: 'fix',
  nobody: 'none',
  question: 'request',
  questions: 'requests',
  said: 'received',
  somebody: 'caller',
  told: 'emitted or reported',
  unheard: 'unobserved',
  untold: 'unreported',
  whoever: 'caller',
}

/** Not next to each other in an identifier. */
const phrases: Readonly<Record<string, string>> = {
  'left alone': 'circuitOpen',
  'left out': 'unsupported or ignored',
  'let go': 'release',
  'passed over': 'skipped',
  'turned away': 'rejected',
}

/** Not at the start of an identifier, for a bound or a default: `mostEvents`, `longestWait`. */
const bounds = /^(most|usual|deepest)$|^(most|usual|deepest|longest|slowest) /
/** Ordinary names that begin like one: `mostRecent`. */
const superlatives = /^most (recent|recently|common|likely|specific|used|expensive)\b/

/** Not in the doc comment of an export. */
const prose = /\b(told|heard|anew|mends?|whoever|nobody|somebody|lets? go of)\b/i

/** Names that are not ours to change: fields of the log. */
const fixed: Readonly<Record<string, readonly string[]>> = { 'src/http/errors.ts': ['told'] }

describe('a name of the old dialect is found', () => {
  test.each([
    ['mostEvents', true],
    ['deepest', true],
    ['usualTimeout', true],
    ['tellUsageTold', true],
    ['letGo', true],
    ['onLetGo', true],
    ['leftAlone', true],
    ['left_out', true],
    ['maxEvents', false],
    ['mostRecent', false],
    ['longest', false],
    ['almost', false],
    ['answer', false],
    ['place', false],
    ['over', false],
    ['letters', false],
    ['outLeft', false],
  ])('%s: %p', (name, expected) => {
    expect(oldWordOf(name) !== undefined).toBe(expected)
  })
})

test('identifiers are those of the code, not the words of comments, strings and regular expressions', () => {
  const text = [
    '/** told */ // heard',
    'const a = \'nobody\' + "said" + `mend ${b({ c: `anew ${d}` })} books`',
    'const e = f.g / 2 + /whoever[/]"/u.exec(h).length / i',
    'type J = { readonly #k?: L }',
  ].join('\n')
  const keywords = new Set(['const', 'type', 'readonly', '2'])
  const names = identifiersOf(text).filter((name) => !keywords.has(name))
  expect(names).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'exec', 'h', 'length', 'i', 'J', 'k', 'L'])
})

test('no identifier of src is in the old dialect', async () => {
  const offenders = (await sourceFiles('src')).flatMap(({ path, text }) =>
    identifiersOf(text).flatMap((name) => {
      const word = fixed[path]?.includes(name) ? undefined : oldWordOf(name)
      return word === undefined ? [] : [`${path}: ${name} (${word})`]
    }),
  )
  expect(offenders).toEqual([])
})

test('no doc comment of an export is in the old dialect', async () => {
  const offenders = (await sourceFiles('src')).flatMap(({ path, text }) =>
    exportedDocsOf(text).flatMap((comment) => {
      const word = prose.exec(comment)?.[0]
      return word === undefined ? [] : [`${path}: ${word}: ${comment.replaceAll(/\s+/g, ' ')}`]
    }),
  )
  expect(offenders).toEqual([])
})

/** Returns the old word of an identifier, and the word of the field; undefined if it has none. */
function oldWordOf(identifier: string): string | undefined {
  const parts = wordsOf(identifier)
  const spaced = parts.join(' ')
  const word = parts.find((part) => Object.hasOwn(words, part))
  if (word !== undefined) return `${word}: ${words[word]}`
  const phrase = Object.keys(phrases).find((old) => ` ${spaced} `.includes(` ${old} `))
  if (phrase !== undefined) return `${phrase}: ${phrases[phrase]}`
  const bound = bounds.test(spaced) && !superlatives.test(spaced)
  return bound ? `${parts[0]}: max, timeout, interval or default` : undefined
}
