import { useResource } from '../../api/resource.ts'
import { Button } from '../../components/button.tsx'
import { SelectField } from '../../components/field.tsx'
import { formatCount } from '../../components/format.ts'
import { Empty, Loaded, ViewHeader } from '../../components/view.tsx'
import { type PageRoute, replaceQuery } from '../../route.ts'
import { useAdminApi } from '../../session.tsx'
import { useShortcut } from '../../shortcuts.tsx'
import { useKeyDialogs } from './key-dialogs.tsx'
import { type ApiKey, hasEnded, loadKeys } from './key.ts'
import { KeyDetail } from './key-detail.tsx'
import { type KeyActions, KeyTable } from './key-table.tsx'
import { loadOrganizations } from './organization.tsx'

type Filter = { readonly organization: string; readonly state: 'usable' | 'all' }

/** The keys view: the limits of API keys, and what creates, changes and ends them, for the operator. */
export function ApiKeys({ path: [id], query }: PageRoute) {
  return id === undefined ? <KeyList query={query} /> : <KeyDetail key={id} id={id} />
}

function KeyList({ query }: Pick<PageRoute, 'query'>) {
  const admin = useAdminApi()
  const filter: Filter = {
    organization: query.get('organization') ?? '',
    state: query.get('state') === 'all' ? 'all' : 'usable',
  }
  const keys = useResource((signal) => loadKeys(admin, signal), [admin])
  const organizations = useResource(
    async (signal) => namesOf(await loadOrganizations(admin, signal)),
    [admin],
  )
  const dialogs = useKeyDialogs({
    organizations: organizations.value ?? [],
    initial: filter.organization === '' ? undefined : { organization: filter.organization },
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
          { value: 'usable', label: 'Active and disabled' },
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
      (filter.state === 'all' || !hasEnded(key)),
  )
  return (
    <>
      <p class="quiet" role="status">
        {formatCount(found.length)} of {formatCount(all.length)} {all.length === 1 ? 'key' : 'keys'}
      </p>
      <KeyTable
        keys={found}
        scope="everyone"
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
