import { shortText } from '../../lib/text.ts'

/**
 * A sentence for the caller, or something that was ignored: ignored items of one kind become one sentence.
 */
export type Warning = string | Unsupported

/**
 * One fewer than a response shows: the warning about estimated usage, known only at the end, has its own
 * slot.
 */
export const maxWarnings = 31

/**
 * The warnings of one request. Each sentence is stored once, and all ignored items of one kind become one
 * sentence, so that neither the time nor the response grows faster than the request.
 */
export class Warnings {
  /** Created with the first warning: most requests have none. */
  #groups: Map<string, UnsupportedGroup | undefined> | undefined
  #omitted = false

  /** Adds a warning. An arrow function, so that it can be passed as a callback. */
  readonly add = (warning: Warning): void => {
    if (typeof warning === 'string') this.#add(warning, undefined)
    else this.#group(warning)
  }

  /** The sentences in the order of their first occurrence, at most `maxWarnings`. */
  sentences(): readonly string[] {
    if (this.#groups === undefined) return none
    const sentences = [...this.#groups].map(([sentence, group]) => group?.sentence() ?? sentence)
    if (!this.#omitted && sentences.length <= maxWarnings) return sentences
    return [...sentences.slice(0, maxWarnings - 1), 'Further warnings were omitted.']
  }

  #group(unsupported: Unsupported): void {
    const key = `${unsupported.what}\n${unsupported.within ?? ''}\n${unsupported.by ?? ''}`
    const group = this.#groups?.get(key) ?? new UnsupportedGroup(unsupported)
    if (this.#add(key, group)) group.add(unsupported.name)
  }

  /** False when the limit is reached. */
  #add(key: string, group: UnsupportedGroup | undefined): boolean {
    const groups = (this.#groups ??= new Map())
    if (groups.has(key)) return true
    this.#omitted ||= groups.size === maxWarnings
    if (!this.#omitted) groups.set(key, group)
    return !this.#omitted
  }
}

/** The warnings of one response, joined from several lists. */
export function joinWarnings(...lists: readonly (readonly string[])[]): readonly string[] {
  if (lists.every(({ length }) => length === 0)) return none
  const warnings = new Warnings()
  for (const list of lists) for (const sentence of list) warnings.add(sentence)
  return warnings.sentences()
}

const none: readonly string[] = []

/** The different names of one kind. */
class UnsupportedGroup {
  readonly #kind: Unsupported
  readonly #names = new Set<string>()

  constructor(kind: Unsupported) {
    this.#kind = kind
  }

  add(name: string): void {
    this.#names.add(name)
  }

  sentence(): string {
    return unsupportedSentence(this.#kind, [...this.#names.values().take(maxNames)], this.#names.size)
  }
}

/** Something in a request that is not supported and was ignored. */
export type Unsupported = {
  readonly what: keyof typeof plurals
  /** Its name as the caller wrote it, of any length. */
  readonly name: string
  /** Where properties of that name are, such as `messages[].`. */
  readonly within?: string
  /** The model, provider or API that does not support it; absent where the gateway itself does not. */
  readonly by?: string
}

/** The maximum number of names in one sentence. */
const maxNames = 8
/** In characters. */
const maxNameLength = 60

const plurals = {
  Parameter: 'Parameters',
  Property: 'Properties',
  'Service tier': 'Service tiers',
  Tool: 'Tools',
  'Content part type': 'Content part types',
  'Item type': 'Item types',
  'Include value': 'Include values',
  'JSON Schema keyword': 'JSON Schema keywords',
} as const

/** The sentence for `count` different items of one kind, of which these are the first names. */
export function unsupportedSentence(
  { what, within = '', by }: Omit<Unsupported, 'name'>,
  names: readonly string[],
  count: number = names.length,
): string {
  const shown = names.slice(0, maxNames).map((name) => `\`${within}${shortText(name, maxNameLength)}\``)
  const support = by === undefined ? 'supported' : `supported by ${by}`
  if (count === 1) return `${what} ${shown.join('')} is not ${support} and was ignored.`
  return `${plurals[what]} ${joinNames(shown, count - shown.length)} are not ${support} and were ignored.`
}

/** `a, b and c`, or `a, b and 7 others`. */
function joinNames(shown: readonly string[], others: number): string {
  const last =
    others > 0 ? `${others.toLocaleString('en-US')} ${others === 1 ? 'other' : 'others'}` : undefined
  const items = last === undefined ? shown : [...shown, last]
  return `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`
}
