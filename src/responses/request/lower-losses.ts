import { quoted } from '../../lib/explain-words.ts'
import { ignoredIn } from './lower-extras.ts'
import type { ResponseRequest } from './schema.ts'

/** Takes a sentence on what the caller asked for and does not get. */
export type Warn = (sentence: string) => void

/** Says what the request asks for that does not happen. */
export function warnOfIgnored(request: ResponseRequest, warn: Warn): void {
  const ignored = ignoredIn(request)
  for (const name of ignored) warn(`${name} is not offered here; it was ignored.`)
  const { truncation, include } = request
  if (truncation != null && truncation !== 'disabled')
    warn('Nothing of the input is ever cut here; truncation was ignored.')
  if (include != null && include.length > 0)
    warn(`Nothing beside the answer can be included; include was ignored: ${named(include)}.`)
}

/** Foreign words for a sentence: no more than a few, and each only once. */
export function named(words: Iterable<string>): string {
  const all = [...new Set(words)]
  const shown = all.slice(0, mostNamed).map(quoted).join(', ')
  return all.length > mostNamed ? `${shown} and ${all.length - mostNamed} more` : shown
}

const mostNamed = 8
