import type { SettingsProblem } from '../../config/problem.ts'
import { problemPath } from '../../config/problem-path.ts'

type Headers = Readonly<Record<string, string>>

/** Those that say how this very request is sent. */
const ownHeaders = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'host',
  'transfer-encoding',
])

/** The headers with their names in lower case, as they are compared. */
export function lowerCaseHeaders(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

/** What is wrong with the extra headers of a provider; `taken` are those that carry its key. */
export function headerProblems(
  headers: Headers,
  path: string,
  taken: ReadonlySet<string>,
): SettingsProblem[] {
  const seen = new Set<string>()
  return Object.entries(headers).flatMap(([name, value]) => {
    const lower = name.toLowerCase()
    const message = complaintOf(lower, value, taken, seen.has(lower))
    seen.add(lower)
    return message === undefined ? [] : [{ path: problemPath(path, name), message }]
  })
}

function complaintOf(
  name: string,
  value: string,
  taken: ReadonlySet<string>,
  twice: boolean,
): string | undefined {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return 'is not a name that a header can have.'
  if (twice) return 'is given twice; names of headers do not differ by case.'
  if (ownHeaders.has(name)) return 'is a header that weir itself sets; remove it.'
  if (taken.has(name)) return 'is the header that carries api_key; remove one of the two.'
  if (!/^[\x20-\x7e]*$/.test(value)) return 'must have a value of plain characters on one line.'
  return undefined
}
