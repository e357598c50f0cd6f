import type { SettingsProblem } from '../../config/problem.ts'
import type { RemoteKind } from '../provider.ts'

/** The paths that are appended to a base URL, and that users often copy into it. */
const endpointPath = /\/(chat\/completions|completions|responses|messages|embeddings|models)$/

/** The base URL without the endpoint paths at its end. */
export function withoutEndpoint(baseUrl: string, kind: RemoteKind): string {
  const shortened = shorten(shorten(baseUrl, kind), kind)
  // The paths of some kinds contain the version.
  const versioned = pathAt(shortened, kind).startsWith('/v1/')
  return shortened !== baseUrl && versioned ? shortened.replace(/\/v1$/, '') : shortened
}

/** `/models` is a part of the address where the kind has other paths below it, as at Azure AI Foundry. */
function shorten(baseUrl: string, kind: RemoteKind): string {
  const shortened = baseUrl.replace(endpointPath, '')
  const isAddress = /(?<!\/v1)\/models$/.test(baseUrl) && pathAt(baseUrl, kind) !== pathAt(shortened, kind)
  return isAddress ? baseUrl : shortened
}

function pathAt(baseUrl: string, kind: RemoteKind): string {
  return kind.path({ model: 'model', stream: false }, { baseUrl })
}

/**
 * Other base URLs on the same host that may be the right one, the most likely first: without the endpoint path at the
 * end, and with or without `/v1`.
 */
export function alternativeBaseUrls(baseUrl: string, kind: RemoteKind): readonly string[] {
  const base = withoutEndpoint(baseUrl, kind)
  const { origin } = new URL(base)
  const plain = base.replace(/(\/v1)+$/, '')
  const bases = [base, `${plain}/v1`, plain, `${origin}/v1`, `${origin}/api/v1`, origin]
  return [...new Set(bases)].filter((other) => other !== baseUrl)
}

/** The base URL without trailing slashes: every path below it begins with one. */
export function normalizeBaseUrl(text: string): string {
  return text.trim().replace(/\/+$/, '')
}

/** The problems of a text that is not usable as a base URL. */
export function baseUrlProblems(text: string, path: string): SettingsProblem[] {
  const message = problemOf(text.trim())
  return message === undefined ? [] : [{ path, message }]
}

function problemOf(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    return 'must be a URL that begins with http:// or https://.'
  if (url.username !== '' || url.password !== '')
    return 'must not contain a user name or password. Use api_key instead.'
  if (/[?#]/.test(text)) return 'must not contain “?” or “#”, because paths are appended to it.'
  return undefined
}
