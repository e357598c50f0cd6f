import { useState } from 'preact/hooks'
import type { Project } from '../../api/objects.ts'
import { newestFirst, useList } from '../../api/pages.ts'
import { ChangeButton } from '../../change-button.tsx'
import { PagedTable } from '../../components/paged-table.tsx'
import { type Column, column, dayColumn, nameColumn } from '../../components/table-columns.tsx'
import { EmptyLine, Section } from '../../components/view.tsx'
import { routeHash } from '../../route.ts'
import { useAdminApi } from '../../session.tsx'
import { budgetColumns, modelsColumn } from './limits-view.tsx'
import { ProjectBadge, ProjectForm } from './project.tsx'

/** The projects of an organization, with their budgets. */
export function OrganizationProjects({ organization }: { readonly organization: string }) {
  const [creating, setCreating] = useState(false)
  const projects = useList<Project>(useAdminApi(), '/admin/projects', { ...newestFirst, organization })
  const hrefOf = (id: string) => routeHash('organizations', [organization, 'projects', id])
  return (
    <Section
      title="Projects"
      label="Projects of the organization"
      controls={<ChangeButton label="Create a project" icon="plus" onClick={() => setCreating(true)} />}
    >
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
        <ProjectForm
          organization={organization}
          onClose={() => setCreating(false)}
          onDone={({ id }) => {
            location.hash = hrefOf(id)
          }}
        />
      )}
    </Section>
  )
}

const columns: readonly Column<Project>[] = [
  nameColumn('name', 'Project', ({ name }) => name),
  column('state', 'State', (project) => <ProjectBadge of={project} />, {
    sortValue: ({ enabled }) => String(enabled),
  }),
  ...budgetColumns<Project>(),
  modelsColumn(),
  dayColumn('created', 'Created', ({ created_at }) => created_at),
]
