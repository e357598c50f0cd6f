import type { Metadata } from './metadata-list.tsx'

/** A pair while it is edited; a value that is not text is edited as JSON. */
export type DraftPair = {
  readonly id: number
  readonly key: string
  readonly value: string
  readonly isJson: boolean
}

/** The pairs of this metadata, to be edited. */
export function toDraft(metadata: Metadata): readonly DraftPair[] {
  return Object.entries(metadata).map(([key, value], id) => ({
    id,
    key,
    value: typeof value === 'string' ? value : JSON.stringify(value),
    isJson: typeof value !== 'string',
  }))
}

/** The metadata of these pairs, or what is wrong with them. */
export function readDraft(
  pairs: readonly DraftPair[],
): { readonly metadata: Metadata } | { readonly problem: string } {
  const keys = pairs.map(({ key }) => key)
  if (keys.includes('')) return { problem: 'Each pair requires a key.' }
  const repeated = keys.find((key, index) => keys.indexOf(key) !== index)
  if (repeated !== undefined) return { problem: `The key “${repeated}” is used twice.` }
  const entries: [string, unknown][] = []
  for (const { key, value, isJson } of pairs) {
    const parsed = isJson ? parse(value) : { value }
    if (parsed === undefined) return { problem: `The value of “${key}” must be JSON.` }
    entries.push([key, parsed.value])
  }
  return { metadata: Object.fromEntries(entries) }
}

function parse(json: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(json) }
  } catch {
    return undefined
  }
}
