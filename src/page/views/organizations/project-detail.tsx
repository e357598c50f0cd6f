import { useState } from 'preact/hooks'
import type { Project } from '../../api/objects.ts'
import { useGet } from '../../api/resource.ts'
import { ChangeButton } from '../../change-button.tsx'
import { Facts, Foreign, Time } from '../../components/facts.tsx'
import { visibleText } from '../../components/format.ts'
import { useToast } from '../../components/toast.tsx'
import { Loaded, ViewHeader } from '../../components/view.tsx'
import { routeHash } from '../../route.ts'
import { useAdminApi } from '../../session.tsx'
import { LimitsSection } from './limits-view.tsx'
import { OwnedKeys } from './owned-keys.tsx'
import { DeleteProject, ProjectBadge, ProjectForm, projectPath } from './project.tsx'

/** One project of an organization: its limits and its API keys. */
export function ProjectDetail({ organization, id }: { readonly organization: string; readonly id: string }) {
  const toast = useToast()
  const project = useGet<Project>(useAdminApi(), projectPath(id))
  const [dialog, setDialog] = useState<'edit' | 'delete'>()
  const { value } = project
  const back = routeHash('organizations', [organization])
  const disabled = value === undefined || value.deleted_at !== null
  const close = () => setDialog(undefined)
  const onDeleted = () => {
    toast('The project is deleted.')
    location.hash = back
  }
  return (
    <>
      <ViewHeader
        title={visibleText(value?.name ?? id)}
        back={{ href: back, label: `← ${visibleText(value?.organization ?? organization)}` }}
      >
        <ChangeButton label="Edit" disabled={disabled} onClick={() => setDialog('edit')} />
        <ChangeButton label="Delete" kind="danger" disabled={disabled} onClick={() => setDialog('delete')} />
      </ViewHeader>
      <Loaded resource={project} lines={12}>
        {(loaded) => <Content project={loaded} onChanged={project.reload} />}
      </Loaded>
      {value && dialog === 'edit' && (
        <ProjectForm organization={organization} edited={value} onClose={close} onDone={project.reload} />
      )}
      {value && dialog === 'delete' && <DeleteProject project={value} onClose={close} onDone={onDeleted} />}
    </>
  )
}

function Content({ project, onChanged }: { readonly project: Project; readonly onChanged: () => void }) {
  const { id, organization, created_at } = project
  return (
    <div class="stack wide">
      <Facts
        facts={[
          ['State', <ProjectBadge of={project} />],
          ['Organization', <Foreign text={organization} />],
          ['ID', <code>{id}</code>],
          ['Created', <Time at={created_at} />],
        ]}
      />
      <LimitsSection of={project} path={projectPath(id)} empty="no limit" onChanged={onChanged} />
      <OwnedKeys organization={organization} project={id} />
    </div>
  )
}
