import { useMemo } from 'preact/hooks'
import { Tabs } from '../../components/tabs.tsx'
import { ViewHeader } from '../../components/view-header.tsx'
import { routeHash } from '../../routing/route.ts'
import { FilterForm } from './filter-form.tsx'
import { readFilter } from './stored-filter.ts'
import { StoredTable } from './stored-table.tsx'
import type { StoredKind } from './summary.ts'

const tabs = [
  { id: 'completions', label: 'Completions' },
  { id: 'responses', label: 'Responses' },
] as const

/** The lists of stored completions and of stored responses. */
export function StoredLists({ kind, query }: { readonly kind: StoredKind; readonly query: URLSearchParams }) {
  const text = query.toString()
  const filter = useMemo(() => readFilter(query), [text])
  return (
    <>
      <ViewHeader title="Stored" />
      <Tabs
        label="What is stored"
        tabs={tabs}
        selected={kind}
        onSelect={(id) => {
          location.hash = routeHash('stored', [id])
        }}
      >
        <div class="stack">
          <FilterForm kind={kind} filter={filter} />
          <StoredTable key={kind} kind={kind} filter={filter} />
        </div>
      </Tabs>
    </>
  )
}
