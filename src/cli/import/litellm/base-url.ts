import { withoutEndpoint, baseUrlProblems, normalizeBaseUrl } from '../../../providers/config/base-url.ts'
import { kinds } from '../../../providers/kinds/kinds.ts'
import { importedText } from './values.ts'

/** An address of the source, or the sentence that says why it cannot be used. */
export type ImportedBaseUrl =
  | { readonly baseUrl?: string; readonly apiVersion?: string; readonly problem?: undefined }
  | { readonly problem: string }

/**
 * Reads `api_base`. An endpoint path at its end is removed, because Weir appends its own; so is `?api-version=`, which is
 * a setting. An address in an environment variable is used as it is.
 */
export function readBaseUrl(value: unknown, kind: string): ImportedBaseUrl {
  const imported = importedText(value)
  if (imported === undefined) return value === undefined || value === null || value === '' ? {} : notAnAddress
  if (imported.variable !== undefined) return { baseUrl: imported.text }
  const [address = '', query] = imported.text.split('?', 2)
  const apiVersion = new URLSearchParams(query).get('api-version') ?? undefined
  if (query !== undefined && apiVersion === undefined) return notAnAddress
  if (/[${}\s]/.test(address) || !/^https?:\/\/[^/]/.test(address)) return notAnAddress
  if (baseUrlProblems(address, '').length > 0) return notAnAddress
  const record = kinds[kind]
  const normal = normalizeBaseUrl(address)
  const baseUrl = record !== undefined && 'protocol' in record ? withoutEndpoint(normal, record) : normal
  return { baseUrl, ...(apiVersion !== undefined && { apiVersion }) }
}

const notAnAddress = {
  problem: 'must be an address such as https://host/v1, without a password and a query.',
} as const

/** The address with `path` at its end, once. */
export function withPath(baseUrl: string, path: string): string {
  return baseUrl.endsWith(path) ? baseUrl : `${baseUrl.replace(/\/+$/, '')}${path}`
}
