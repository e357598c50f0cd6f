import type { SettingsProblem } from '../../config/problem.ts'

/** The base without slashes at its end: every path behind it begins with one. */
export function baseAddress(text: string): string {
  return text.trim().replace(/\/+$/, '')
}

/** What keeps the base from having paths put behind it. */
export function addressProblems(text: string, path: string): SettingsProblem[] {
  const message = complaintOf(text.trim())
  return message === undefined ? [] : [{ path, message }]
}

function complaintOf(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    return 'must be an address that begins with http:// or https://.'
  if (url.username !== '' || url.password !== '') return 'must not hold a name or password; use api_key.'
  if (/[?#]/.test(text)) return 'must end before any “?” or “#”: paths are put behind it.'
  return undefined
}
