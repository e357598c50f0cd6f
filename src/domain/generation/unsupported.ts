import { shortText } from '../../lib/text.ts'

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
export const maxNames = 8
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
