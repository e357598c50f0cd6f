import { type Fields, textOf } from '../../../lib/json.ts'

/** The service tier in the usage of an answer; undefined where none is told, null for one without a name here. */
export function parseTier(metadata: Fields): 'default' | 'priority' | null | undefined {
  const word = textOf(metadata.serviceTier) ?? textOf(metadata.trafficType)
  if (word === undefined) return undefined
  if (word === 'standard' || word === 'ON_DEMAND') return 'default'
  return word === 'priority' || word === 'ON_DEMAND_PRIORITY' ? 'priority' : null
}
