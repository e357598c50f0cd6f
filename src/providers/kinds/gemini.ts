import { fieldsOf, isObject } from '../../lib/json/json.ts'
import { listedIn, noListing, tokensOf } from '../model-listing.ts'
import { gemini, geminiEmbeddings } from '../protocols/gemini/protocol.ts'
import type { Target } from '../protocols/protocol.ts'
import { bearer, type KindSetting, type ListedModel, type RemoteKind } from '../provider.ts'

/** The settings of a provider on Google Cloud: they replace the base URL and the key. */
export const googleCloudSettings: readonly KindSetting[] = ['project', 'location', 'credentials']

/** Google's models, with a Gemini API key or in a project of Google Cloud. */
export const geminiKinds: readonly RemoteKind[] = [
  {
    name: 'gemini',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    protocol: gemini({ name: 'gemini', callIds: true, serviceTier: true }),
    path: (target) => pathIn('/models', target),
    operations: {
      embedding: {
        protocol: geminiEmbeddings,
        path: ({ model }) => `${modelPath('/models', model)}:batchEmbedContents`,
        textOnly: true,
      },
    },
    listing: { path: () => '/models?pageSize=1000', models: parseModels },
    authorize: (key) => ({ 'x-goog-api-key': key }),
    telemetryName: 'gcp.gemini',
    maxImageTokens: geminiImageTokens,
  },
  {
    name: 'vertex',
    keyVariables: [],
    googleCloud: true,
    // Its older models reject ids, and its service tiers are requested by a header.
    protocol: gemini({ name: 'vertex' }),
    path: (target) => pathIn('/publishers/google/models', target),
    listing: noListing,
    authorize: bearer,
    settings: googleCloudSettings,
    telemetryName: 'gcp.vertex_ai',
    maxImageTokens: geminiImageTokens,
  },
]

/** A name with slashes is a path of its own, such as `tunedModels/mine` or `endpoints/123`. */
function modelPath(collection: string, model: string): string {
  const name = model.split('/').map(encodeURIComponent).join('/')
  return model.includes('/') ? `/${name}` : `${collection}/${name}`
}

function pathIn(collection: string, { model, stream }: Target): string {
  const path = modelPath(collection, model)
  return stream ? `${path}:streamGenerateContent?alt=sse` : `${path}:generateContent`
}

/** The models of the list; their names carry the collection as a prefix. */
function parseModels(body: unknown): readonly Partial<ListedModel>[] | undefined {
  const list = listedIn(isObject(body) ? body.models : undefined, 'name', (entry) =>
    tokensOf(fieldsOf(entry).inputTokenLimit),
  )
  return list?.map((model) => ({ ...model, id: model.id?.replace(/^models\//, '') }))
}

/** The maximum of one image: 16 tiles of 258. */
function geminiImageTokens(): number {
  return 4128
}
