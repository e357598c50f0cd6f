import { useMemo, useState } from 'preact/hooks'
import { useResource } from '../../api/resource.ts'
import { Button } from '../../components/button.tsx'
import { SearchField } from '../../components/field.tsx'
import { formatCount } from '../../components/format.ts'
import { Table } from '../../components/table.tsx'
import { Empty, Loaded, ViewHeader } from '../../components/view.tsx'
import { type PageRoute, replaceQuery, routeHash } from '../../route.ts'
import { useAdminApi } from '../../session.tsx'
import { useShortcut } from '../../shortcuts.tsx'
import { loadOrganizations, type Organization, organizationColumns } from './organization.tsx'
import { OrganizationDetail } from './organization-detail.tsx'
import { CreateOrganization } from './organization-dialogs.tsx'
import { ProjectDetail } from './project-detail.tsx'

/** The organizations view: balances, billing and limits, for the operator. */
export function Organizations({ path: [name, part, id], query }: PageRoute) {
  if (name !== undefined && part === 'projects' && id !== undefined)
    return <ProjectDetail key={id} organization={name} id={id} />
  if (name !== undefined) return <OrganizationDetail key={name} name={name} />
  return <OrganizationList search={query.get('q') ?? ''} />
}

function OrganizationList({ search }: { readonly search: string }) {
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
        {(all) => <FoundOrganizations all={all} search={search} />}
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
  return (
    <div class="stack">
      <div class="search">
        <SearchField
          what="organizations"
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
        empty={
          all.length === 0 ? (
            <Empty title="There are no organizations" text="Create one, and then an API key for it." />
          ) : (
            <Empty title="No organization matches" text="Change the text of the search." />
          )
        }
      />
    </div>
  )
}
