import { useMemo, useState } from 'preact/hooks'
import { useResource } from '../../api/use-resource.ts'
import { Button } from '../../components/button.tsx'
import { TextField } from '../../components/field.tsx'
import { formatCount } from '../../components/format.ts'
import { Empty, Loaded } from '../../components/states.tsx'
import { Table } from '../../components/table.tsx'
import { ViewHeader } from '../../components/view-header.tsx'
import { useShortcut } from '../../keyboard/shortcuts.tsx'
import { replaceQuery, routeHash } from '../../routing/route.ts'
import { useAdminApi } from '../../session/session.tsx'
import { loadOrganizations, type Organization } from './organization.ts'
import { organizationColumns } from './organization-columns.tsx'
import { CreateOrganization } from './organization-dialogs.tsx'

/** The list of all organizations. */
export function OrganizationList({ query }: { readonly query: URLSearchParams }) {
  const admin = useAdminApi()
  const [creating, setCreating] = useState(false)
  const organizations = useResource((signal) => loadOrganizations(admin, signal), [admin])
  const create = () => setCreating(true)
  useShortcut('n', 'Create an organization', create)
  return (
    <>
      <ViewHeader title="Organizations">
        <Button label="Create" icon="plus" kind="primary" shortcut="n" onClick={create} />
      </ViewHeader>
      <Loaded resource={organizations} lines={10}>
        {(all) => <FoundOrganizations all={all} search={query.get('q') ?? ''} />}
      </Loaded>
      {creating && (
        <CreateOrganization
          onClose={() => setCreating(false)}
          onCreated={({ id }) => {
            location.hash = routeHash('organizations', [id])
          }}
        />
      )}
    </>
  )
}

function FoundOrganizations(props: { readonly all: readonly Organization[]; readonly search: string }) {
  const { all, search } = props
  const found = useMemo(() => {
    const text = search.trim().toLowerCase()
    return all.filter(({ name, id }) => `${name} ${id}`.toLowerCase().includes(text))
  }, [all, search])
  useShortcut('/', 'Search the organizations', () =>
    document.querySelector<HTMLInputElement>('.search input')?.focus(),
  )
  return (
    <div class="stack">
      <div class="search">
        <TextField
          label="Search"
          type="search"
          placeholder="Name or ID"
          value={search}
          onInput={(q) => replaceQuery({ q: q || undefined })}
        />
      </div>
      <p class="quiet" role="status">
        {formatCount(found.length)} of {formatCount(all.length)}{' '}
        {all.length === 1 ? 'organization' : 'organizations'}
      </p>
      <Table
        label="Organizations"
        columns={organizationColumns}
        rows={found}
        rowKey={({ id }) => id}
        rowHref={({ id }) => routeHash('organizations', [id])}
        initialSort={{ column: 'name', direction: 'ascending' }}
        empty={<NoOrganizations none={all.length === 0} />}
      />
    </div>
  )
}

function NoOrganizations({ none }: { readonly none: boolean }) {
  return none ? (
    <Empty title="There are no organizations">
      <p>Create one, and then an API key for it.</p>
    </Empty>
  ) : (
    <Empty title="No organization matches">
      <p>Change the text of the search.</p>
    </Empty>
  )
}
