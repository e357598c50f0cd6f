import { type ListedModel, listedIn, noListing, tokensOf } from '../model-listing.ts'
import type { RemoteKind } from '../provider.ts'
import { fieldsOf, isObject } from '../../lib/json/json.ts'
import { gemini } from '../protocols/gemini/protocol.ts'
import type { Target } from '../protocols/protocol.ts'
import { bearer } from './bearer.ts'

/** Google's models by the key of a developer, and in a project of Google Cloud. */
export const geminiKinds: readonly RemoteKind[] = [
  {
    name: 'gemini',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    protocol: gemini({ name: 'gemini', callIds: true, serviceTier: true }),
    path: (target) => pathIn('/models', target),
    listing: { path: () => '/models?pageSize=1000', models: modelsIn },
    authorize: (key) => ({ 'x-goog-api-key': key }),
  },
  {
    name: 'vertex',
    keyVariables: [],
    googleCloud: true,
    // Its older models refuse ids, and its tiers are asked for by a header.
    protocol: gemini({ name: 'vertex' }),
    path: (target) => pathIn('/publishers/google/models', target),
    listing: noListing,
    authorize: bearer,
  },
]

/** A name with slashes says itself where the model is, such as `tunedModels/mine` or `endpoints/123`. */
function pathIn(folder: string, { model, stream }: Target): string {
  const name = model.split('/').map(encodeURIComponent).join('/')
  const place = model.includes('/') ? `/${name}` : `${folder}/${name}`
  return stream ? `${place}:streamGenerateContent?alt=sse` : `${place}:generateContent`
}

/** They are listed with the folder in which they are. */
function modelsIn(body: unknown): readonly Partial<ListedModel>[] | undefined {
  const list = listedIn(isObject(body) ? body.models : undefined, 'name', (entry) =>
    tokensOf(fieldsOf(entry).inputTokenLimit),
  )
  return list?.map((model) => ({ ...model, id: model.id?.replace(/^models\//, '') }))
}
