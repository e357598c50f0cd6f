import { fieldsOf, isObject, numberOf, textOf } from '../lib/json/json.ts'
import type { ListedModel, ModelListing, Provider } from './provider.ts'

/** The list of most providers; some send it without an object around it. */
export const defaultListing: ModelListing = listingAt('/models')

/** Whether the provider has an endpoint that lists its models. */
export function isListed(provider: Provider): boolean {
  const { kind } = provider
  return 'protocol' in kind && (kind.listing ?? defaultListing).path(provider) !== undefined
}

/** The default list at another path. */
export function listingAt(path: string): ModelListing {
  return {
    path: () => path,
    models: (body) => listedIn(isObject(body) ? body.data : body, 'id', contextWindowOf),
  }
}

/** Parses the entries of a list; `field` contains the id. Undefined where the value is not a list. */
export function listedIn(
  list: unknown,
  field: string,
  contextWindow: (entry: unknown) => number | undefined,
): readonly Partial<ListedModel>[] | undefined {
  if (!Array.isArray(list)) return undefined
  return list.map((entry) => ({ id: textOf(fieldsOf(entry)[field]), contextWindow: contextWindow(entry) }))
}

/** The value if it is a valid number of tokens. */
export function tokensOf(value: unknown): number | undefined {
  const count = numberOf(value)
  return count !== undefined && Number.isSafeInteger(count) && count > 0 ? count : undefined
}

/**
 * The context window is in `max_model_len` at vLLM and SGLang, and in `meta` at llama.cpp: the served one in `n_ctx`,
 * else the one that the model was trained for. Hosted services have other fields.
 */
function contextWindowOf(entry: unknown): number | undefined {
  const fields = fieldsOf(entry)
  const meta = fieldsOf(fields.meta)
  const values = [
    fields.max_model_len,
    meta.n_ctx,
    meta.n_ctx_train,
    fields.context_length,
    fields.context_window,
    fields.max_context_length,
  ]
  return values.map(tokensOf).find((count) => count !== undefined)
}

/** The listing of a provider without a list, or without one for its key. */
export const noListing: ModelListing = { path: () => undefined, models: () => undefined }
