import { visibleText } from '../../markdown/visible-text.ts'
import { routeHash } from '../../routing/route.ts'
import type { StoredKind } from './summary.ts'

export type Metadata = Readonly<Record<string, unknown>>

/** The metadata of a stored object; each pair leads to everything that has it. */
export function MetadataList({ kind, metadata }: { readonly kind: StoredKind; readonly metadata: Metadata }) {
  const pairs = Object.entries(metadata)
  if (pairs.length === 0) return <p class="quiet">No metadata.</p>
  return (
    <ul class="chips" aria-label="Metadata">
      {pairs.map(([key, value]) => (
        <li key={key}>
          <a class="badge" href={listWith(kind, key, value)} title="Show everything with this pair">
            <bdi>{visibleText(key)}</bdi>: <bdi>{visibleText(textOf(value))}</bdi>
          </a>
        </li>
      ))}
    </ul>
  )
}

function listWith(kind: StoredKind, key: string, value: unknown): string {
  return routeHash('stored', [kind], { metadata: JSON.stringify({ [key]: textOf(value) }) })
}

/** As the API compares it. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
