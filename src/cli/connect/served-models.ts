import { fieldsOf, listOf, numberOf, parseJson, textOf } from '../../lib/json/json.ts'
import { directGet } from '../health/direct-get.ts'
import type { ConnectCandidate } from './choose-model.ts'

/** Milliseconds. */
const listTimeoutMs = 5000
/** Bytes. */
const maxListBytes = 8 * 1024 * 1024

/** Returns the models that a running gateway serves to this key; undefined if it does not list them. */
export async function servedModels(
  origin: string,
  key: string,
): Promise<readonly ConnectCandidate[] | undefined> {
  try {
    const { status, text } = await directGet(`${origin}/v1/models`, {
      headers: { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(listTimeoutMs),
      maxBytes: maxListBytes,
      verifyCertificate: true,
    })
    if (status !== 200) return undefined
    return listOf(fieldsOf(parseJson(text)).data).flatMap(toCandidate)
  } catch {
    return undefined
  }
}

/** Another version of Weir may list fields that this one does not know, and the reverse. */
function toCandidate(value: unknown): ConnectCandidate[] {
  const model = fieldsOf(value)
  const slug = textOf(model.id)
  if (slug === undefined) return []
  return [
    {
      slug,
      displayName: textOf(model.display_name) ?? slug,
      contextWindow: numberOf(model.context_window),
      maxOutputTokens: numberOf(model.max_output_tokens),
      tools: listOf(model.supported_parameters).includes('tools'),
      images: listOf(model.input_modalities).includes('image'),
      text: listOf(model.output_modalities).includes('text'),
      created: numberOf(model.created) ?? 0,
      outputPrice: numberOf(fieldsOf(model.pricing).output),
    },
  ]
}
