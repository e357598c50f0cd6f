import type { Fields } from '../../../lib/json/json.ts'
import type { RemoteKind } from '../../../providers/provider.ts'
import type { Notes } from './notes.ts'
import type { ProviderDraft } from './provider-draft.ts'
import type { Translation } from './special-services.ts'
import { importedText, variableText } from './values.ts'

/** The key of a deployment as a setting, or a key in plain text, which only tells providers apart. */
export type ImportedKey = Pick<ProviderDraft, 'literalKey'> & { readonly api_key?: string }

/** Reads `api_key`; without one, the provider takes the variable that LiteLLM takes. */
export function readKey(
  params: Fields,
  { keyVariable }: Translation,
  kind: RemoteKind,
  path: string,
  notes: Notes,
): ImportedKey {
  const imported = importedText(params.api_key)
  const [ownVariable] = kind.keyVariables
  if (kind.googleCloud) {
    if (imported !== undefined)
      notes.add(`${path}.api_key`, 'Weir signs in to Google Cloud with a service account.')
    return {}
  }
  if (imported?.variable !== undefined)
    return imported.variable === ownVariable ? {} : { api_key: imported.text }
  if (imported !== undefined && !(kind.keyless && isNoKey(imported.text)))
    return { literalKey: imported.text }
  if (imported !== undefined) return {}
  if (keyVariable !== undefined) return { api_key: variableText(keyVariable) }
  noteOtherVariables(kind, path, notes)
  return {}
}

/** LiteLLM takes the key of the first one that is set, and Weir its own. */
const otherVariables: Readonly<Record<string, string>> = {
  together: 'TOGETHERAI_API_KEY or TOGETHER_AI_API_KEY',
  fireworks: 'FIREWORKS_AI_API_KEY or FIREWORKSAI_API_KEY',
  perplexity: 'PERPLEXITYAI_API_KEY',
  snowflake: 'SNOWFLAKE_JWT',
}

function noteOtherVariables(
  { name, keyVariables, baseUrl, keyless }: RemoteKind,
  path: string,
  notes: Notes,
): void {
  const others = otherVariables[name]
  if (others !== undefined)
    notes.add(`${path}.api_key`, `Weir takes the key from ${keyVariables[0]}, and not from ${others}.`)
  if (keyless && baseUrl === undefined)
    notes.add(`${path}.api_key`, 'There is no key: Weir sends none, and no OPENAI_API_KEY, to this address.')
}

/** What people write where a server needs no key. */
function isNoKey(text: string): boolean {
  return /^(none|null|empty|dummy|fake|anything|na|n\/a|no-?key|not-?needed|not-?required|sk-no-key-required|x+)$/i.test(
    text,
  )
}
