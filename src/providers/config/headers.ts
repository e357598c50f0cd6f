import { problemPath, type SettingsProblem } from '../../config/problem.ts'

type Headers = Readonly<Record<string, string>>

/** The headers that the gateway sets for each request. */
const gatewayHeaders = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'host',
  'transfer-encoding',
])

/** Returns the headers with lower-case names. */
export function lowerCaseHeaders(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

/** The problems of the configured headers of a provider; `keyHeaders` are those that carry its key. */
export function headerProblems(
  headers: Headers,
  path: string,
  keyHeaders: ReadonlySet<string>,
): SettingsProblem[] {
  const seen = new Set<string>()
  return Object.entries(headers).flatMap(([name, value]) => {
    const lowerName = name.toLowerCase()
    const message = problemOf(lowerName, value, keyHeaders, seen.has(lowerName))
    seen.add(lowerName)
    return message === undefined ? [] : [{ path: problemPath(path, name), message }]
  })
}

function problemOf(
  name: string,
  value: string,
  keyHeaders: ReadonlySet<string>,
  isDuplicate: boolean,
): string | undefined {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return 'is not a valid header name.'
  if (isDuplicate) return 'is set twice. Header names are case-insensitive.'
  if (gatewayHeaders.has(name)) return 'is a header that Weir sets itself. Remove it.'
  if (keyHeaders.has(name)) return 'is the header that carries api_key. Remove one of the two.'
  if (!/^[\x20-\x7e]*$/.test(value)) return 'must have a value of printable ASCII characters on one line.'
  return undefined
}
