import { fieldsOf, textOf } from '../../lib/json/json.ts'
import { type ModelListing, tokensOf, usualListing } from '../model-listing.ts'

/** Ollama's list has no context window; its own interface, beside the compatible one, says it of each model. */
export const ollamaListing: ModelListing = {
  ...usualListing,
  details: {
    url: ({ baseUrl }) =>
      baseUrl.endsWith('/v1') ? `${baseUrl.slice(0, -'/v1'.length)}/api/show` : undefined,
    body: (model) => ({ model }),
    contextWindow,
  },
}

/** What the model was made for, or less where its parameters set another size. */
function contextWindow(body: unknown): number | undefined {
  const { model_info, parameters } = fieldsOf(body)
  const info = fieldsOf(model_info)
  const name = Object.keys(info).find((name) => name.endsWith('.context_length'))
  const made = name === undefined ? undefined : tokensOf(info[name])
  const [, written] = /^num_ctx\s+(\d{1,12})\s*$/m.exec(textOf(parameters) ?? '') ?? []
  const set = tokensOf(Number(written))
  if (made === undefined || set === undefined) return made ?? set
  return Math.min(made, set)
}
