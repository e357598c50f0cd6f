import { useState } from 'preact/hooks'
import { type ListPage, newestFirst, type Pages, usePages } from '../../api/pages.ts'
import { ChangeButton } from '../../change-button.tsx'
import { Badge } from '../../components/facts.tsx'
import { PagedTable } from '../../components/paged-table.tsx'
import { type Column, dayColumn, nameColumn } from '../../components/table-columns.tsx'
import { EmptyLine } from '../../components/view.tsx'
import { routeHash } from '../../route.ts'
import { useAdminApi } from '../../session.tsx'
import { budgetColumns, modelsColumn } from './limit-columns.tsx'
import type { Project } from './project.ts'
import { CreateProject } from './project-dialogs.tsx'

/** The projects of an organization, with their budgets. */
export function OrganizationProjects({ organization }: { readonly organization: string }) {
  const [creating, setCreating] = useState(false)
  const projects = useProjects(organization)
  const hrefOf = (id: string) => routeHash('organizations', [organization, 'projects', id])
  return (
    <section class="stack" aria-label="Projects of the organization">
      <div class="section-header">
        <h2>Projects</h2>
        <ChangeButton label="Create a project" icon="plus" onClick={() => setCreating(true)} />
      </div>
      <PagedTable
        label="Projects"
        columns={columns}
        pages={projects}
        rowKey={({ id }) => id}
        rowHref={({ id }) => hrefOf(id)}
        empty={
          <EmptyLine text="No project yet: a person, a team or an application with keys and limits of its own.">
            <ChangeButton label="Create the first project" icon="plus" onClick={() => setCreating(true)} />
          </EmptyLine>
        }
      />
      {creating && (
        <CreateProject
          organization={organization}
          onClose={() => setCreating(false)}
          onCreated={({ id }) => {
            location.hash = hrefOf(id)
          }}
        />
      )}
    </section>
  )
}

function useProjects(organization: string): Pages<Project> {
  const admin = useAdminApi()
  return usePages(
    (after, signal) => {
      const query = { ...newestFirst(after), organization }
      return admin.get<ListPage<Project>>('/admin/projects', { query, signal })
    },
    [admin, organization],
  )
}

const columns: readonly Column<Project>[] = [
  nameColumn('name', 'Project', ({ name }) => name),
  {
    id: 'state',
    header: 'State',
    render: (project) => <ProjectBadge of={project} />,
    sortValue: ({ enabled }) => String(enabled),
  },
  ...budgetColumns<Project>(),
  modelsColumn(),
  dayColumn('created', 'Created', ({ created_at }) => created_at),
]

/** Whether requests with the keys of a project are accepted. */
export function ProjectBadge({ of: { enabled, deleted_at } }: { readonly of: Project }) {
  if (deleted_at !== null) return <Badge tone="bad">deleted</Badge>
  return <Badge tone={enabled ? 'good' : 'bad'}>{enabled ? 'active' : 'disabled'}</Badge>
}
