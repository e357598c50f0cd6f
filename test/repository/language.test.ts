import { describe, expect, test } from 'bun:test'
import { sourceFiles } from '../support/source.ts'
import { exportedDocsOf, identifiersOf, stringsOf, wordsOf } from '../support/source-words.ts'

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
  repair: 'fix',
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

/** Not in a sentence that a user reads, and what to write instead. */
const sentences: readonly (readonly [old: RegExp, better: string])[] = [
  [/\b(told|heard)\b/i, 'reported or received'],
  [/\banew\b/i, 'again'],
  [/\b(mends?|mended)\b/i, 'fix'],
  [/\b(whoever|somebody|nobody)\b/i, 'a client, a user, or none'],
  [/\blets? go\b/i, 'release'],
  [/\b(left out|passed over|left alone)\b/i, 'ignored, omitted or skipped'],
  [/\bturned away\b/i, 'rejected'],
  [/\b(is|are) (on|off)(?=[.,;:]|$)/i, 'enabled or disabled'],
  [/\bholds?\b/i, 'contains, has or reserves'],
  [/\bat the moment\b/i, 'currently'],
  [/\b(used up|gives? out)\b/i, 'exhausted or issues'],
  [/\banswer(s|ed) with\b/i, 'returns'],
  [/\brepl(y|ies)\b/i, 'response'],
  [/\bneeds? an? (key|address|duration|value)\b/i, 'must be or requires'],
]

/** Names that are not ours to change: fields of the log. */
const fixed: Readonly<Record<string, readonly string[]>> = {}

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
    'const a = \'nobody\' + "said" + `repair ${b({ c: `anew ${d}` })} books`',
    'const e = f.g / 2 + /whoever[/]"/u.exec(h).length / i',
    'type J = { readonly #k?: L }',
  ].join('\n')
  const keywords = new Set(['const', 'type', 'readonly', '2'])
  const names = identifiersOf(text).filter((name) => !keywords.has(name))
  expect(names).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'exec', 'h', 'length', 'i', 'J', 'k', 'L'])
})

test('strings are those of the code, without the code of a template', () => {
  const text = [
    '/** `one` */ const a = \'two\' + "three" + `four ${b(`five ${c} six`)} seven`',
    'const d = /eight/',
  ].join('\n')
  expect(stringsOf(text)).toEqual(['two', 'three', 'four ', 'five ', ' six', ' seven'])
})

describe('a sentence of the old dialect is found', () => {
  test.each([
    ['Discovery is on.', true],
    ['Discovery is on, and', true],
    ['The parameter was left out.', true],
    ['The provider answered with status', true],
    ['It holds a key.', true],
    ['The disk is on a network.', false],
    ['The household is full.', false],
    ['Answer with one JSON object.', false],
    ['The threshold is 5.', false],
  ])('%s: %p', (sentence, expected) => {
    expect(oldSentence(sentence) !== undefined).toBe(expected)
  })
})

test('no sentence that a user reads is in the old dialect', async () => {
  const offenders = (await sourceFiles('src')).flatMap(({ path, text }) =>
    stringsOf(text).flatMap((string) => {
      // A text without a space is a name, a path or a code.
      const better = string.trim().includes(' ') ? oldSentence(string) : undefined
      return better === undefined ? [] : [`${path}: ${string} (${better})`]
    }),
  )
  expect(offenders).toEqual([])
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

/** Returns what to write instead of the first old phrase in a sentence; undefined if it has none. */
function oldSentence(sentence: string): string | undefined {
  return sentences.find(([old]) => old.test(sentence))?.[1]
}

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
