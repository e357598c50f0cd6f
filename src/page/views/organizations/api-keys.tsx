import { ChangeButton } from '../../change-button.tsx'
import { Button } from '../../components/button.tsx'
import { SearchField, SelectField } from '../../components/field.tsx'
import { Empty, ViewHeader } from '../../components/view.tsx'
import { filterIn, type PageRoute, replaceQuery } from '../../route.ts'
import { useSession } from '../../session.tsx'
import { useShortcut } from '../../shortcuts.tsx'
import { useKeyDialogs } from './key-dialogs.tsx'
import { useKeys } from './key.ts'
import { KeyDetail } from './key-detail.tsx'
import { KeyTable } from './key-table.tsx'
import { OrganizationField } from './organization-field.tsx'

/** The filter of the list, as in the address; the gateway applies it. */
const noFilter = { q: '', organization: '', state: 'usable' }

type Filter = typeof noFilter

/** The keys view: the limits of API keys, and what creates, changes and ends them, for the operator. */
export function ApiKeys({ path: [id], query }: PageRoute) {
  return id === undefined ? <KeyList query={query} /> : <KeyDetail key={id} id={id} />
}

function KeyList({ query }: Pick<PageRoute, 'query'>) {
  const { filter, change } = filterIn(query, noFilter)
  const organization = filter.organization || undefined
  const keys = useKeys({
    organization,
    search: filter.q.trim() || undefined,
    ...(filter.state !== 'all' && { usable: 'true' }),
  })
  const dialogs = useKeyDialogs({ owner: { organization }, onChanged: keys.reload })
  useShortcut('n', 'Create an API key', dialogs.create, useSession().may('write'))
  return (
    <>
      <ViewHeader title="API keys">
        <ChangeButton label="Create" icon="plus" kind="primary" shortcut="n" onClick={dialogs.create} />
      </ViewHeader>
      <div class="stack">
        <Filters filter={filter} change={change} />
        <KeyTable
          keys={keys}
          scope="everyone"
          actions={dialogs}
          empty={<NoKeys filter={filter} onCreate={dialogs.create} />}
        />
      </div>
      {dialogs.element}
    </>
  )
}

function Filters(props: { readonly filter: Filter; readonly change: (changed: Partial<Filter>) => void }) {
  const { filter, change } = props
  return (
    <div class="key-filters">
      <SearchField what="keys" placeholder="Name or ID" value={filter.q} onInput={(q) => change({ q })} />
      <OrganizationField
        placeholder="All"
        optional
        value={filter.organization}
        onChange={(organization) => change({ organization })}
      />
      <SelectField
        label="State"
        value={filter.state === 'all' ? 'all' : 'usable'}
        options={[
          { value: 'usable', label: 'Active and disabled' },
          { value: 'all', label: 'All, with expired and revoked' },
        ]}
        onChange={(state) => change({ state })}
      />
    </div>
  )
}

function NoKeys({ filter, onCreate }: { readonly filter: Filter; readonly onCreate: () => void }) {
  const { q, organization, state } = filter
  if (q !== '' || organization !== '')
    return (
      <Empty title="No API key matches">
        <Button label="Show all keys" icon="close" onClick={() => replaceQuery({ state: 'all' })} />
      </Empty>
    )
  return (
    <Empty title={state === 'all' ? 'There are no API keys' : 'There are no active API keys'}>
      <ChangeButton label="Create an API key" icon="plus" onClick={onCreate} />
    </Empty>
  )
}
