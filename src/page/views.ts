import type { ComponentType } from 'preact'
import type { IconName } from './components/icon.tsx'
import type { PageRoute } from './route.ts'
import type { Keys } from './session.tsx'
import { Audit } from './views/audit/audit.tsx'
import { Limits } from './views/limits.tsx'
import { Live } from './views/live/live.tsx'
import { Models } from './views/models.tsx'
import { ApiKeys } from './views/organizations/api-keys.tsx'
import { Organizations } from './views/organizations/organizations.tsx'
import { Overview } from './views/overview/overview.tsx'
import { Playground } from './views/playground/playground.tsx'
import { Providers } from './views/providers.tsx'
import { Requests } from './views/requests/requests.tsx'
import { Stored } from './views/stored/stored.tsx'
import { Usage } from './views/usage/usage.tsx'
import { Webhooks } from './views/webhooks/webhooks.tsx'

/** A view of the page, at `#/{id}`. */
export type View = {
  /** Also the name of its icon. */
  readonly id: IconName
  readonly title: string
  /** The key that it needs: that of an organization, the admin key of the operator, or either. */
  readonly needs: 'apiKey' | 'adminKey' | 'either'
  /** Opens the view after `g`. */
  readonly shortcut: string
  readonly component: ComponentType<PageRoute>
}

/** Every view, in the order of the navigation. The first one that the keys of the tab allow is shown at the start. */
export const views: readonly View[] = [
  { id: 'overview', title: 'Overview', needs: 'adminKey', shortcut: 'h', component: Overview },
  { id: 'playground', title: 'Playground', needs: 'apiKey', shortcut: 'p', component: Playground },
  { id: 'models', title: 'Models', needs: 'apiKey', shortcut: 'm', component: Models },
  { id: 'usage', title: 'Usage', needs: 'either', shortcut: 'u', component: Usage },
  { id: 'stored', title: 'Stored', needs: 'apiKey', shortcut: 's', component: Stored },
  { id: 'limits', title: 'Limits', needs: 'apiKey', shortcut: 'l', component: Limits },
  { id: 'organizations', title: 'Organizations', needs: 'adminKey', shortcut: 'o', component: Organizations },
  { id: 'keys', title: 'API keys', needs: 'adminKey', shortcut: 'k', component: ApiKeys },
  { id: 'providers', title: 'Providers', needs: 'adminKey', shortcut: 'v', component: Providers },
  { id: 'webhooks', title: 'Webhooks', needs: 'adminKey', shortcut: 'w', component: Webhooks },
  { id: 'requests', title: 'Requests', needs: 'adminKey', shortcut: 'r', component: Requests },
  { id: 'audit', title: 'Audit', needs: 'adminKey', shortcut: 'a', component: Audit },
  { id: 'live', title: 'Live requests', needs: 'adminKey', shortcut: 'i', component: Live },
]

/** Whether these keys are enough for a view. */
export function isAllowed({ needs }: View, keys: Keys): boolean {
  if (needs === 'either') return keys.apiKey !== undefined || keys.adminKey !== undefined
  return keys[needs] !== undefined
}
