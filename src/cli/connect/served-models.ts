import { fieldsOf, listOf, numberOf, parseJson, textOf } from '../../lib/json/json.ts'
import { readText } from '../../lib/read-text.ts'
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
    const response = await fetch(`${origin}/v1/models`, {
      headers: { authorization: `Bearer ${key}` },
      // A redirect would send the key to another host.
      redirect: 'manual',
      signal: AbortSignal.timeout(listTimeoutMs),
    })
    const text = await readText(response, maxListBytes)
    if (!response.ok) return undefined
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
