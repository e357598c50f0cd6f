import { useState } from 'preact/hooks'
import { useResource } from '../../api/resource.ts'
import { Button } from '../../components/button.tsx'
import { Badge } from '../../components/facts.tsx'
import { Table } from '../../components/table.tsx'
import { type Column, dayColumn, nameColumn } from '../../components/table-columns.tsx'
import { Loaded } from '../../components/view.tsx'
import { routeHash } from '../../route.ts'
import { useAdminApi } from '../../session.tsx'
import { budgetColumns, modelsColumn } from './limit-columns.tsx'
import { loadProjects, type Project } from './project.ts'
import { CreateProject } from './project-dialogs.tsx'

/** The projects of an organization, with their budgets. */
export function OrganizationProjects({ organization }: { readonly organization: string }) {
  const admin = useAdminApi()
  const [creating, setCreating] = useState(false)
  const projects = useResource((signal) => loadProjects(admin, organization, signal), [admin, organization])
  const hrefOf = (id: string) => routeHash('organizations', [organization, 'projects', id])
  return (
    <section class="stack" aria-label="Projects of the organization">
      <div class="section-header">
        <h2>Projects</h2>
        <Button label="Create a project" icon="plus" onClick={() => setCreating(true)} />
      </div>
      <Loaded resource={projects} lines={3}>
        {(loaded) => (
          <Table
            label="Projects"
            columns={columns}
            rows={loaded}
            rowKey={({ id }) => id}
            rowHref={({ id }) => hrefOf(id)}
            initialSort={{ column: 'name', direction: 'ascending' }}
            empty={
              <p class="quiet">
                No project yet: a person, a team or an application with keys and limits of its own.
              </p>
            }
          />
        )}
      </Loaded>
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
