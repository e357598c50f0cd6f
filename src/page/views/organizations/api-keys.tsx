import { useResource } from '../../api/resource.ts'
import { Button } from '../../components/button.tsx'
import { SelectField } from '../../components/field.tsx'
import { formatCount } from '../../components/format.ts'
import { Empty, Loaded, ViewHeader } from '../../components/view.tsx'
import { type PageRoute, replaceQuery } from '../../route.ts'
import { useAdminApi } from '../../session.tsx'
import { useShortcut } from '../../shortcuts.tsx'
import { useKeyDialogs } from './key-dialogs.tsx'
import { type ApiKey, type KeyActions, KeyTable, loadKeys, stateOf, works } from './key-table.tsx'
import { loadOrganizations } from './organization.tsx'

type Filter = { readonly organization: string; readonly state: 'working' | 'all' }

/** The keys view: creates, rotates and revokes API keys, for the operator. */
export function ApiKeys({ query }: PageRoute) {
  const admin = useAdminApi()
  const filter: Filter = {
    organization: query.get('organization') ?? '',
    state: query.get('state') === 'all' ? 'all' : 'working',
  }
  const keys = useResource((signal) => loadKeys(admin, signal), [admin])
  const organizations = useResource(
    async (signal) => namesOf(await loadOrganizations(admin, signal)),
    [admin],
  )
  const dialogs = useKeyDialogs({
    organizations: organizations.value ?? [],
    initial: filter.organization || undefined,
    onChanged: keys.reload,
  })
  useShortcut('n', 'Create an API key', dialogs.create)
  return (
    <>
      <ViewHeader title="API keys">
        <Button label="Create" icon="plus" kind="primary" shortcut="n" onClick={dialogs.create} />
      </ViewHeader>
      <Loaded resource={organizations} lines={12}>
        {(names) => (
          <div class="stack">
            <Filters names={names} filter={filter} />
            <Loaded resource={keys} lines={10}>
              {(all) => <FoundKeys all={all} filter={filter} actions={dialogs} />}
            </Loaded>
          </div>
        )}
      </Loaded>
      {dialogs.element}
    </>
  )
}

function namesOf(organizations: readonly { readonly name: string }[]): readonly string[] {
  return organizations.map(({ name }) => name).toSorted((a, b) => a.localeCompare(b))
}

function Filters({ names, filter }: { readonly names: readonly string[]; readonly filter: Filter }) {
  const change = (changed: Partial<Filter>) => {
    const { organization, state } = { ...filter, ...changed }
    replaceQuery({ organization: organization || undefined, state: state === 'all' ? state : undefined })
  }
  return (
    <div class="key-filters">
      <SelectField
        label="Organization"
        value={filter.organization}
        options={[{ value: '', label: 'All' }, ...names.map((value) => ({ value, label: value }))]}
        onChange={(organization) => change({ organization })}
      />
      <SelectField
        label="State"
        value={filter.state}
        options={[
          { value: 'working', label: 'Working' },
          { value: 'all', label: 'All, with expired and revoked' },
        ]}
        onChange={(state) => change({ state })}
      />
    </div>
  )
}

function FoundKeys(props: {
  readonly all: readonly ApiKey[]
  readonly filter: Filter
  readonly actions: KeyActions
}) {
  const { all, filter, actions } = props
  const found = all.filter(
    (key) =>
      (filter.organization === '' || key.organization === filter.organization) &&
      (filter.state === 'all' || works(stateOf(key))),
  )
  return (
    <>
      <p class="quiet" role="status">
        {formatCount(found.length)} of {formatCount(all.length)} {all.length === 1 ? 'key' : 'keys'}
      </p>
      <KeyTable
        keys={found}
        everyone
        actions={actions}
        empty={
          all.length === 0 ? (
            <Empty title="There are no API keys" text="Create one with the button above." />
          ) : (
            <Empty title="No API key matches" text="Change the filter." />
          )
        }
      />
    </>
  )
}
