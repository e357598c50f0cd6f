import type { ModelDetails } from '../../../config/model-details.ts'
import type { Fields } from '../../../lib/json/json.ts'
import { kinds } from '../../../providers/kinds/kinds.ts'
import type { Translation } from './special-services.ts'
import { quoted } from './values.ts'

/** An API that a model of the source serves instead of conversations. */
export type OtherApi = 'embeddings' | 'completions'

/** What the API of a deployment is read from. */
export type ServedApiInput = {
  readonly translation: Translation
  /** `model_info`. */
  readonly info: Fields
  readonly catalogModel: ModelDetails | undefined
}

/** Returns the API of a model that is not for conversations, if it is one; or a sentence that says why Weir cannot serve it. */
export function servedApi(input: ServedApiInput): { readonly api?: OtherApi } | string {
  const use = useOf(input)
  if (use === 'conversations') return {}
  if (use !== 'embeddings' && use !== 'completions') return use.reason
  const { kind } = input.translation
  return offers(kind, use) ? { api: use } : `Weir does not support ${use} with providers of the kind ${kind}.`
}

type Use = 'conversations' | OtherApi | { readonly reason: string }

/** The mode says it, else the service, the catalog, or the name of the model. */
function useOf({ translation, info: { mode }, catalogModel }: ServedApiInput): Use {
  if (typeof mode === 'string' && mode !== '')
    return modes.get(mode) ?? { reason: `Weir does not serve models of the mode ${quoted(mode)}.` }
  if (translation.otherApi !== undefined) return translation.otherApi
  if (catalogModel?.supported_apis?.includes('embeddings') || embeddingModel.test(translation.model))
    return 'embeddings'
  if (catalogModel?.enabled !== false && !unsupportedModel.test(translation.model)) return 'conversations'
  return {
    reason: 'It does not seem to be a chat model; if it is, set model_info.mode to chat and import again.',
  }
}

const modes: ReadonlyMap<string, Use> = new Map([
  ['chat', 'conversations'],
  ['responses', 'conversations'],
  ['embedding', 'embeddings'],
  ['completion', 'completions'],
])

/** The names of embedding models. */
const embeddingModel = /(^|[-_/.])(embed|embedding|embeddings)([-_/.]|\d|$)/i

/** The names of models that Weir does not serve. */
const unsupportedModel = /(^|[-_/.])(whisper|tts|dall-e|rerank|moderation)([-_/.]|\d|$)/i

function offers(name: string, api: OtherApi): boolean {
  const kind = kinds[name]
  const operation = api === 'embeddings' ? 'embedding' : 'completion'
  return kind !== undefined && 'protocol' in kind && kind.operations?.[operation] !== undefined
}
