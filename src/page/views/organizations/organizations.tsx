import { useState } from 'preact/hooks'
import type { Organization } from '../../api/objects.ts'
import { newestFirst, useList } from '../../api/pages.ts'
import { ChangeButton } from '../../change-button.tsx'
import { Button } from '../../components/button.tsx'
import { SearchField } from '../../components/field.tsx'
import { PagedTable } from '../../components/paged-table.tsx'
import { Empty, ViewHeader } from '../../components/view.tsx'
import { type PageRoute, replaceQuery, routeHash } from '../../route.ts'
import { useAdminApi, useSession } from '../../session.tsx'
import { useShortcut } from '../../shortcuts.tsx'
import { Ledger } from './ledger.tsx'
import { organizationColumns } from './organization.tsx'
import { OrganizationDetail } from './organization-detail.tsx'
import { OrganizationForm } from './organization-dialogs.tsx'
import { ProjectDetail } from './project-detail.tsx'

/** The organizations view: balances, billing and limits, for the operator. */
export function Organizations({ path: [name, part, id], query }: PageRoute) {
  if (name !== undefined && part === 'projects' && id !== undefined)
    return <ProjectDetail key={id} organization={name} id={id} />
  if (name !== undefined && part === 'ledger') return <Ledger key={name} organization={name} query={query} />
  if (name !== undefined) return <OrganizationDetail key={name} name={name} />
  return <OrganizationList search={query.get('q') ?? ''} />
}

function OrganizationList({ search }: { readonly search: string }) {
  const [creating, setCreating] = useState(false)
  const query = { ...newestFirst, search: search.trim() || undefined }
  const organizations = useList<Organization>(useAdminApi(), '/admin/organizations', query)
  const create = () => setCreating(true)
  useShortcut('n', 'Create an organization', create, useSession().may('write'))
  return (
    <>
      <ViewHeader title="Organizations">
        <ChangeButton label="Create" icon="plus" kind="primary" shortcut="n" onClick={create} />
      </ViewHeader>
      <div class="stack">
        <div class="search">
          <SearchField
            what="organizations"
            placeholder="Name or ID"
            value={search}
            onInput={(q) => replaceQuery({ q: q || undefined })}
          />
        </div>
        <PagedTable
          label="Organizations"
          columns={organizationColumns}
          pages={organizations}
          rowKey={({ id }) => id}
          rowHref={hrefOf}
          empty={<NoOrganizations filtered={query.search !== undefined} onCreate={create} />}
        />
      </div>
      {creating && (
        <OrganizationForm
          onClose={() => setCreating(false)}
          onDone={(created) => {
            location.hash = hrefOf(created)
          }}
        />
      )}
    </>
  )
}

function hrefOf({ id }: { readonly id: string }): string {
  return routeHash('organizations', [id])
}

function NoOrganizations(props: { readonly filtered: boolean; readonly onCreate: () => void }) {
  if (props.filtered)
    return (
      <Empty title="No organization matches">
        <Button label="Clear the search" icon="close" onClick={() => replaceQuery({})} />
      </Empty>
    )
  return (
    <Empty title="There are no organizations" text="Create one, and then an API key for it.">
      <ChangeButton label="Create an organization" icon="plus" onClick={props.onCreate} />
    </Empty>
  )
}
