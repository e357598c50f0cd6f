import { fieldsOf, isObject, numberOf, textOf } from '../lib/json/json.ts'
import type { Address } from './address.ts'

/** A model as its provider lists it. */
export type ListedModel = {
  /** The provider's own id. */
  readonly id: string
  /** In tokens, where the provider says it. */
  readonly contextWindow?: number
}

/** Where a provider lists its models, and how. */
export type ModelListing = {
  /** Behind the base URL; undefined where there is no list that could be asked for. */
  path(address: Address): string | undefined
  /** The models of the list, unnamed ones without an id; undefined where the body is no list. */
  models(body: unknown): readonly Partial<ListedModel>[] | undefined
  /** Where one model says what its list does not. */
  readonly details?: ModelDetails
}

/** A further request for each model of a list. */
export type ModelDetails = {
  /** Undefined where the address shows no place for it. */
  url(address: Address): string | undefined
  /** The body of the request, a POST. */
  body(id: string): object
  contextWindow(body: unknown): number | undefined
}

/** As most providers do; some send the list without an object around it. */
export const usualListing: ModelListing = listingAt('/models')

/** The usual list at another path. */
export function listingAt(path: string): ModelListing {
  return { path: () => path, models: (body) => listedIn(isObject(body) ? body.data : body, 'id', contextOf) }
}

/** The entries of a list, each with the field that holds its id and what says its context window. */
export function listedIn(
  list: unknown,
  field: string,
  contextWindow: (entry: unknown) => number | undefined,
): readonly Partial<ListedModel>[] | undefined {
  if (!Array.isArray(list)) return undefined
  return list.map((entry) => ({ id: textOf(fieldsOf(entry)[field]), contextWindow: contextWindow(entry) }))
}

/** The number of tokens if it is one. */
export function tokensOf(value: unknown): number | undefined {
  const count = numberOf(value)
  return count !== undefined && Number.isSafeInteger(count) && count > 0 ? count : undefined
}

/**
 * vLLM and SGLang say it in `max_model_len`, llama.cpp in `meta`: what it serves in `n_ctx`, else what the model was
 * trained for; hosted services have a field of their own.
 */
function contextOf(entry: unknown): number | undefined {
  const fields = fieldsOf(entry)
  const meta = fieldsOf(fields.meta)
  const said = [
    fields.max_model_len,
    meta.n_ctx,
    meta.n_ctx_train,
    fields.context_length,
    fields.context_window,
    fields.max_context_length,
  ]
  return said.map(tokensOf).find((count) => count !== undefined)
}

/** The provider has none, or none for its key. */
export const noListing: ModelListing = { path: () => undefined, models: () => undefined }
