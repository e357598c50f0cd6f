import type { ComponentType } from 'preact'
import type { IconName } from '../components/icon.tsx'

/** What a view receives: the rest of its address. */
export type ViewProps = { readonly path: readonly string[]; readonly query: URLSearchParams }

/** A view of the page, at `#/{id}`. */
export type View = {
  readonly id: string
  readonly title: string
  readonly icon: IconName
  readonly section: 'organization' | 'operator'
  /** The key that it needs: that of an organization, the admin key, or either. */
  readonly needs: 'apiKey' | 'adminKey' | 'either'
  /** Opens the view after `g`. */
  readonly shortcut: string
  readonly component: ComponentType<ViewProps>
}
