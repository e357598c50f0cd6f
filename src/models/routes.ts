import { Elysia } from 'elysia'
import type { Models } from '../gateway/model.ts'
import type { Guard } from '../http/guard.ts'
import { requireModel } from '../gateway/require-model.ts'
import { renderModel, renderModelList } from './render.ts'

const json = { 'content-type': 'application/json' }

/** `GET /v1/models` and `GET /v1/models/{id}`, of the models as they are at that moment. */
export function modelRoutes(guard: Guard, models: () => Models) {
  return new Elysia({ name: 'models' })
    .use(guard)
    .get('/v1/models', () => new Response(renderModelList(models()), { headers: json }), {
      detail: { tags: ['Models'], summary: 'List the enabled models' },
    })
    .get('/v1/models/*', ({ params }) => renderModel(requireModel(models(), decoded(params['*']))), {
      detail: { tags: ['Models'], summary: 'Show an enabled model by slug, bare name or alias' },
    })
}

/** Clients that escape the slash of a slug mean the same model; what is no escape is taken as written. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
