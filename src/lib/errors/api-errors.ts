import { type ApiError, badRequest, modelNotFound } from './errors.ts'

/** 400: the model serves other APIs; `instead` is the path of one of them. */
export function apiNotSupported(slug: string, path: string, instead: string | undefined): ApiError {
  return badRequest(messageFor(slug, path, instead), 'unsupported_value', 'model')
}

/** 404: the model does not serve completions. OpenAI replies with this status, and clients expect it. */
export function completionsNotSupported(slug: string, path: string, instead: string | undefined): ApiError {
  return modelNotFound(messageFor(slug, path, instead), 'unsupported_api', slug)
}

/** 400: no provider of the model accepts token ids; `param` is the field that has them. */
export function tokenIdsNotSupported(slug: string, param: string): ApiError {
  const message = `Invalid '${param}': ${slug} accepts text, but no lists of token ids.`
  return badRequest(message, 'unsupported_value', param)
}

function messageFor(slug: string, path: string, instead: string | undefined): string {
  const hint = instead === undefined ? '' : ` Use ${instead} instead.`
  return `The model ${slug} does not support ${path}.${hint}`
}
