import { isObject } from '../lib/json.ts'
import type { Address } from './provider.ts'

/** Where a provider lists its models, and how. */
export type ModelListing = {
  /** Behind the base URL; undefined where there is no list that could be asked for. */
  path(address: Address): string | undefined
  /** What the entries of the list call their models; undefined where the body is no list. */
  names(body: unknown): readonly unknown[] | undefined
}

/** As most providers do; some send the list without an object around it. */
export const usualListing: ModelListing = listingAt('/models')

/** The usual list at another path. */
export function listingAt(path: string): ModelListing {
  return { path: () => path, names: (body) => fieldsIn(isObject(body) ? body.data : body, 'id') }
}

/** The field of each entry. */
export function fieldsIn(list: unknown, field: string): readonly unknown[] | undefined {
  return Array.isArray(list) ? list.map((entry) => (isObject(entry) ? entry[field] : undefined)) : undefined
}

/** The provider has none, or none for its key. */
export const noListing: ModelListing = { path: () => undefined, names: () => undefined }
