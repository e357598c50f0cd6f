import type { SettingsProblem } from '../config/problem.ts'

/** What of a provider's configuration the path of a request depends on. */
export type Address = {
  readonly baseUrl: string
  /** Azure: the api-version of its older URLs. */
  readonly apiVersion?: string
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
