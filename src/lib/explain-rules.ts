import { type Rules, jsonTypeOf, jsonTypesOf } from './explain-schema.ts'
import { isObject } from './json.ts'
import { type Path, type Problem, oneOf, quoted } from './explain-words.ts'

/** The first bound that the value breaks in itself, leaving aside what it contains. */
export function brokenBound(rules: Rules, value: unknown, path: Path): Problem | undefined {
  if (typeof value === 'number') return wrongNumber(rules, value, path)
  if (typeof value === 'string') return wrongLength(rules, value, path)
  if (Array.isArray(value)) return wrongCount(rules, value.length, path)
  return isObject(value) ? wrongWidth(rules, Object.keys(value).length, path) : undefined
}

/** The value is of no type that one of the branches takes. */
export function wrongType(branches: readonly Rules[], value: unknown, path: Path): Problem {
  const words = branches.flatMap((branch): readonly string[] => {
    return branch.type === 'integer' ? ['integer'] : jsonTypesOf(branch)
  })
  const expected = oneOf([...new Set(words.map(withArticle))])
  return { path, code: 'invalid_type', expected, got: typeWords(value) }
}

/** The value is none of those that are allowed. */
export function wrongChoice(allowed: readonly unknown[], value: unknown, path: Path): Problem {
  const expected = allowed.length === 1 ? quoted(allowed[0]) : `one of ${oneOf(allowed.map(quoted))}`
  return { path, code: 'invalid_value', expected, got: quoted(value) }
}

function wrongNumber(rules: Rules, value: number, path: Path): Problem | undefined {
  const kind = rules.type === 'integer' ? 'integer' : 'decimal'
  // JSON may write 1e999, which is read as Infinity.
  if (kind === 'integer' && Number.isFinite(value) && !Number.isInteger(value))
    return wrongType([rules], value, path)
  const bound = (code: string, words: string): Problem => {
    return { path, code: `${kind}_${code}`, expected: `${typeWord(rules)} ${words}`, got: String(value) }
  }
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = rules
  if (minimum !== undefined && value < minimum) return bound('below_min_value', `of at least ${minimum}`)
  if (maximum !== undefined && value > maximum) return bound('above_max_value', `of at most ${maximum}`)
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum)
    return bound('below_min_value', `greater than ${exclusiveMinimum}`)
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum)
    return bound('above_max_value', `less than ${exclusiveMaximum}`)
  if (Number.isFinite(value)) return undefined
  return bound(value > 0 ? 'above_max_value' : 'below_min_value', 'of ordinary size')
}

function wrongLength(rules: Rules, value: string, path: Path): Problem | undefined {
  const { minLength = 0, maxLength = Infinity } = rules
  if (minLength === 0 && value.length <= maxLength) return undefined
  const length = charactersOf(value)
  if (length < minLength) {
    const expected = `a string of at least ${counted(minLength, 'character')}`
    return { path, code: 'string_below_min_length', expected, got: counted(length, 'character') }
  }
  if (length <= maxLength) return undefined
  const expected = `a string of at most ${counted(maxLength, 'character')}`
  return { path, code: 'string_above_max_length', expected, got: counted(length, 'character') }
}

/** Characters, not the halves that JavaScript counts. */
function charactersOf(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}

function wrongCount(rules: Rules, length: number, path: Path): Problem | undefined {
  const { minItems = 0, maxItems = Infinity } = rules
  if (length < minItems) {
    const code = length === 0 ? 'empty_array' : 'array_below_min_length'
    const expected = `an array of at least ${counted(minItems, 'item')}`
    return { path, code, expected, got: length === 0 ? 'an empty one' : counted(length, 'item') }
  }
  if (length <= maxItems) return undefined
  const expected = `an array of at most ${counted(maxItems, 'item')}`
  return { path, code: 'array_above_max_length', expected, got: counted(length, 'item') }
}

function wrongWidth({ maxProperties = Infinity }: Rules, count: number, path: Path): Problem | undefined {
  if (count <= maxProperties) return undefined
  const expected = `an object of at most ${maxProperties} keys`
  return { path, code: 'object_above_max_properties', expected, got: counted(count, 'key') }
}

function counted(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`
}

function typeWord(rules: Rules): string {
  return rules.type === 'integer' ? 'an integer' : 'a number'
}

function typeWords(value: unknown): string {
  if (typeof value !== 'number') return withArticle(jsonTypeOf(value))
  return Number.isInteger(value) ? 'an integer' : 'a decimal number'
}

function withArticle(word: string): string {
  if (word === 'null') return word
  return /^[aio]/.test(word) ? `an ${word}` : `a ${word}`
}
