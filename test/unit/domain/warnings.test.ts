import { describe, expect, test } from 'bun:test'
import {
  unsupportedSentence,
  joinWarnings,
  maxWarnings,
  Warnings,
} from '../../../src/domain/generation/warnings.ts'

function gathered(add: (warnings: Warnings) => void): readonly string[] {
  const warnings = new Warnings()
  add(warnings)
  return warnings.sentences()
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`)

describe('the warnings of a request', () => {
  test('name one thing in its own sentence, and several of a kind in one together', () => {
    expect(unsupportedSentence({ what: 'Parameter', by: 'mistral' }, ['n'])).toBe(
      'Parameter `n` is not supported by mistral and was ignored.',
    )
    expect(unsupportedSentence({ what: 'Property', within: 'messages[].' }, ['a', 'b'])).toBe(
      'Properties `messages[].a` and `messages[].b` are not supported and were ignored.',
    )
  })

  test('name eight at most, and give the number of the others', () => {
    const message = (count: number) => unsupportedSentence({ what: 'Parameter' }, names(count))
    expect(message(8)).toContain('`n6` and `n7` are not')
    expect(message(9)).toContain('`n6`, `n7` and 1 other are not')
    expect(message(10_000)).toContain('`n7` and 9,992 others are not')
  })

  test('name each thing once, and each kind separately', () => {
    const sentences = gathered(({ add }) => {
      for (const by of ['groq', 'mistral', 'groq']) add({ what: 'Parameter', name: 'n', by })
      add('A sentence.')
      add({ what: 'Service tier', name: 'flex', by: 'groq' })
      add({ what: 'Parameter', name: 'seed', by: 'groq' })
      add('A sentence.')
    })
    expect(sentences).toEqual([
      'Parameters `n` and `seed` are not supported by groq and were ignored.',
      'Parameter `n` is not supported by mistral and was ignored.',
      'A sentence.',
      'Service tier `flex` is not supported by groq and was ignored.',
    ])
  })

  test('truncate a long name, and contain no control characters', () => {
    const [message = ''] = gathered(({ add }) => {
      add({ what: 'Parameter', name: `a\n${'b'.repeat(1024 * 1024)}` })
    })
    expect(message.length).toBeLessThan(150)
    expect(message).toStartWith('Parameter `a\ufffdbbb')
  })

  test('are limited, and their number beyond that is given', () => {
    const all = names(maxWarnings)
    expect(gathered(({ add }) => all.forEach(add))).toEqual(all)
    const sentences = gathered(({ add }) => {
      for (let index = 0; index < 100_000; index++)
        add({ what: 'Parameter', name: 'n', by: `model ${index}` })
    })
    expect(sentences).toHaveLength(maxWarnings)
    expect(sentences.at(-1)).toBe('Further warnings were omitted.')
  })

  test('treat a name that every object has like any other', () => {
    const inherited = ['constructor', 'toString', '__proto__', 'hasOwnProperty']
    const sentences = gathered(({ add }) => inherited.forEach((name) => add({ what: 'Parameter', name })))
    expect(sentences[0]).toStartWith(
      'Parameters `constructor`, `toString`, `__proto__` and `hasOwnProperty` are',
    )
  })

  test('of two lists are one list with the same limit', () => {
    expect(joinWarnings(['a', 'b'], ['b', 'c'])).toEqual(['a', 'b', 'c'])
    const joined = joinWarnings(names(maxWarnings), ['another'])
    expect(joined).toHaveLength(maxWarnings)
    expect(joined.at(-1)).toBe('Further warnings were omitted.')
  })
})
