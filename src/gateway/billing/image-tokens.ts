import type { Model, ModelRoute } from '../models/model.ts'

const gpt4oMini = 48_169
/** The largest of open models: 12.8 megapixels in patches of 28 by 28. */
const otherMax = 16_384

/** The maximum tokens of an image on any route of the model. */
export function maxImageTokens({ routes }: Pick<Model, 'routes'>): number {
  return routes.reduce((max, route) => Math.max(max, maxOnRoute(route)), 0) || otherMax
}

function maxOnRoute({ provider, model }: ModelRoute): number {
  if (model.includes('4o-mini')) return gpt4oMini
  const { kind } = provider
  return ('protocol' in kind ? kind.maxImageTokens?.(model) : undefined) ?? otherMax
}
