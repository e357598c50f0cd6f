import type { ComponentChildren } from 'preact'
import { Tabs } from '../../components/tabs.tsx'
import { replaceQuery } from '../../routing/route.ts'

const labels = { conversation: 'Conversation', replay: 'Replay', json: 'JSON' } as const

export type DetailTab = keyof typeof labels

/** The tab that the address names; the first one for any other name. */
export function detailTabNamed<Tab extends DetailTab>(query: URLSearchParams, tabs: readonly Tab[]): Tab {
  const named = tabs.find((tab) => tab === query.get('tab'))
  const [first] = tabs
  if (first === undefined) throw new Error('There are no tabs.')
  return named ?? first
}

/** The tabs of a stored object, of which the address keeps the selected one. */
export function DetailTabs(props: {
  readonly tabs: readonly DetailTab[]
  readonly selected: DetailTab
  readonly children: ComponentChildren
}) {
  const { tabs, selected, children } = props
  return (
    <Tabs
      label="Parts"
      tabs={tabs.map((id) => ({ id, label: labels[id] }))}
      selected={selected}
      onSelect={(tab) => replaceQuery({ tab: tab === tabs[0] ? undefined : tab })}
    >
      {children}
    </Tabs>
  )
}
