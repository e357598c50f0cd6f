import { keys } from './keys/keys.tsx'
import { limits } from './limits/limits.tsx'
import { live } from './live/live.tsx'
import { models } from './models/models.tsx'
import { organizations } from './organizations/organizations.tsx'
import { playground } from './playground/playground.tsx'
import { providers } from './providers/providers.tsx'
import { stored } from './stored/stored.tsx'
import { usage } from './usage/usage.tsx'
import type { View } from './view.ts'

/** Every view, in the order of the navigation. The first one that the keys of the tab allow is shown at the start. */
export const views: readonly View[] = [
  playground,
  models,
  usage,
  stored,
  limits,
  organizations,
  keys,
  providers,
  live,
]

/** Whether these keys are enough for a view. */
export function isAllowed(
  { needs }: View,
  keys: { readonly apiKey?: string; readonly adminKey?: string },
): boolean {
  if (needs === 'either') return keys.apiKey !== undefined || keys.adminKey !== undefined
  return keys[needs] !== undefined
}
