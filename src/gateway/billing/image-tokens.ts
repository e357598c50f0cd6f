import type { Model, ModelRoute } from '../models/model.ts'

/** The documented maximum of an image, by the kind of the provider. */
const maxByKind: Readonly<Record<string, number>> = {
  // 10,000 patches, times 1.2.
  openai: 12_000,
  azure: 12_000,
  anthropic: 4784,
  'vertex-anthropic': 4784,
  // 16 tiles of 258.
  gemini: 4128,
  vertex: 4128,
  mistral: 4160,
  // 6 tiles and the full image, 256 each.
  xai: 1792,
}

/** The small models of OpenAI count an image several times as high. */
const smallOpenAi = 24_600
const gpt4oMini = 48_169
/** The largest of open models: 12.8 megapixels in patches of 28 by 28. */
const otherMax = 16_384

/** The maximum tokens of an image on any route of the model. */
export function maxImageTokens({ routes }: Pick<Model, 'routes'>): number {
  return routes.reduce((max, route) => Math.max(max, maxOnRoute(route)), 0) || otherMax
}

function maxOnRoute({ provider, model }: ModelRoute): number {
  if (model.includes('4o-mini')) return gpt4oMini
  const max = maxByKind[provider.kind.name] ?? otherMax
  return max === maxByKind.openai && /mini|nano/.test(model) ? smallOpenAi : max
}
