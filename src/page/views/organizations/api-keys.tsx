import { ChangeButton } from '../../change-button.tsx'
import { Button } from '../../components/button.tsx'
import { SearchField, SelectField } from '../../components/field.tsx'
import { Empty, ViewHeader } from '../../components/view.tsx'
import { type PageRoute, replaceQuery } from '../../route.ts'
import { useSession } from '../../session.tsx'
import { useShortcut } from '../../shortcuts.tsx'
import { useKeyDialogs } from './key-dialogs.tsx'
import { useKeys } from './key.ts'
import { KeyDetail } from './key-detail.tsx'
import { KeyTable } from './key-table.tsx'
import { OrganizationField } from './organization-field.tsx'

/** The filter of the list, as in the address; the gateway applies it. */
type Filter = {
  readonly search: string
  readonly organization: string
  readonly state: 'usable' | 'all'
}

/** The keys view: the limits of API keys, and what creates, changes and ends them, for the operator. */
export function ApiKeys({ path: [id], query }: PageRoute) {
  return id === undefined ? <KeyList query={query} /> : <KeyDetail key={id} id={id} />
}

function KeyList({ query }: Pick<PageRoute, 'query'>) {
  const filter: Filter = {
    search: query.get('q') ?? '',
    organization: query.get('organization') ?? '',
    state: query.get('state') === 'all' ? 'all' : 'usable',
  }
  const organization = filter.organization || undefined
  const keys = useKeys({
    organization,
    search: filter.search.trim() || undefined,
    ...(filter.state === 'usable' && { usable: 'true' }),
  })
  const dialogs = useKeyDialogs({ owner: { organization }, onChanged: keys.reload })
  useShortcut('n', 'Create an API key', dialogs.create, useSession().may('write'))
  return (
    <>
      <ViewHeader title="API keys">
        <ChangeButton label="Create" icon="plus" kind="primary" shortcut="n" onClick={dialogs.create} />
      </ViewHeader>
      <div class="stack">
        <Filters filter={filter} />
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

function Filters({ filter }: { readonly filter: Filter }) {
  const change = (changed: Partial<Filter>) => {
    const { search, organization, state } = { ...filter, ...changed }
    replaceQuery({
      q: search || undefined,
      organization: organization || undefined,
      state: state === 'all' ? state : undefined,
    })
  }
  return (
    <div class="key-filters">
      <SearchField
        what="keys"
        placeholder="Name or ID"
        value={filter.search}
        onInput={(search) => change({ search })}
      />
      <OrganizationField
        placeholder="All"
        optional
        value={filter.organization}
        onChange={(organization) => change({ organization })}
      />
      <SelectField
        label="State"
        value={filter.state}
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
  const { search, organization, state } = filter
  if (search !== '' || organization !== '')
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
