import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { readList } from '../../http/query.ts'
import { isAnthropicRequest } from '../../http/anthropic-error.ts'
import { allowedModels } from '../../gateway/models/allowed-models.ts'
import type { Models } from '../../gateway/models/models.ts'
import { describe, guardErrors } from '../../http/describe.ts'
import type { Guard } from '../../http/guard.ts'
import { requireModel } from '../../gateway/models/require-model.ts'
import {
  AnthropicModel,
  AnthropicModelList,
  anthropicQuery,
  renderAnthropicList,
  renderAnthropicModel,
  renderCodexList,
  renderModel,
  renderModelList,
} from './render.ts'
import { ModelList, ModelObject } from '../../http/objects/model.ts'

const json = { 'content-type': 'application/json' }

const listDetail = describe({
  tag: 'Models',
  id: 'listModels',
  summary: 'List the enabled models',
  description:
    'Lists every model that the key may use, with its capabilities, limits and prices in USD per million tokens. With the header `anthropic-version`, the list has the shape of the Anthropic API, and is paged. With the query parameter `client_version`, it also has an empty list `models`, with which Codex keeps what it knows of its models.',
  reply: Type.Union([ModelList, AnthropicModelList]),
  query: anthropicQuery.parameters,
  errors: [400, ...guardErrors],
})

const showDetail = describe({
  tag: 'Models',
  id: 'getModel',
  summary: 'Get an enabled model',
  description:
    'Returns a model that the key may use, with its capabilities, limits and prices in USD per million tokens, or with the header `anthropic-version` in the shape of the Anthropic API.',
  path: {
    id: 'The slug of the model, such as `openai/gpt-6-luna`, its name without the author, or an alias.',
  },
  reply: Type.Union([ModelObject, AnthropicModel]),
  errors: [404, ...guardErrors],
})

/**
 * `GET /v1/models` and `GET /v1/models/{id}`, in the form of the API that the client speaks; `models` returns the current
 * ones.
 */
export function modelRoutes(guard: Guard, models: () => Models) {
  return new Elysia({ name: 'models' })
    .use(guard)
    .get(
      '/v1/models',
      ({ request, caller }) => {
        const allowed = allowedModels(models(), caller.limits.models)
        if (isAnthropicRequest(request)) return renderAnthropicList(allowed, request)
        const isCodex = readList(request, 'client_version').length > 0
        return new Response((isCodex ? renderCodexList : renderModelList)(allowed), { headers: json })
      },
      { detail: listDetail },
    )
    .get(
      '/v1/models/*',
      ({ params, request, caller }) => {
        const allowed = allowedModels(models(), caller.limits.models)
        const model = requireModel(allowed, decoded(params['*']))
        return isAnthropicRequest(request) ? renderAnthropicModel(model) : renderModel(model)
      },
      { detail: showDetail },
    )
}

/** Some clients escape the slash of a slug. A name that cannot be decoded is used as it is. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
