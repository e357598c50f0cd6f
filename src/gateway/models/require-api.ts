import { apiPaths, conversationApis, type ModelApi } from '../../domain/generation/parameters.ts'
import type { Generation } from '../../domain/generation/request.ts'
import { type ApiError, completionsNotSupported, apiNotSupported } from '../../lib/errors/errors.ts'
import type { Model } from './model.ts'

/** Throws the 400 or 404 where the model does not serve the API; its message names an API that the model serves. */
export function requireApi(model: Model, api: ModelApi): void {
  if (!model.supportedApis.includes(api)) throw unsupportedApi(model, api)
}

/** The error for an API that no provider of the model offers. */
export function unofferedOperation(model: Model, { operation }: Generation): ApiError {
  return unsupportedApi(model, operation === 'embedding' ? 'embeddings' : 'completions')
}

function unsupportedApi({ slug, supportedApis }: Model, api: ModelApi): ApiError {
  const others = supportedApis.filter((other) => other !== api)
  const [instead] = [...conversationApis.filter((other) => others.includes(other)), ...others]
  const error = api === 'completions' ? completionsNotSupported : apiNotSupported
  return error(slug, apiPaths[api], instead && apiPaths[instead])
}
