import { useState } from 'preact/hooks'
import type { ApiClient } from '../../api/client.ts'
import type { Project } from '../../api/objects.ts'
import { loadAll } from '../../api/pages.ts'
import { type DialogHandlers, FormDialog } from '../../components/dialog.tsx'
import { Badge } from '../../components/facts.tsx'
import { TextField } from '../../components/field.tsx'
import { visibleText } from '../../components/format.ts'
import { LimitFields, useLimitForm } from './limit-fields.tsx'
import { changeOf, creationOf } from './limits.ts'

/** The path of a project in the admin API. */
export function projectPath(id: string): string {
  return `/admin/projects/${encodeURIComponent(id)}`
}

/** Loads the projects of an organization, which its name or its ID names. */
export function loadProjects(
  client: ApiClient,
  organization: string,
  signal?: AbortSignal,
): Promise<readonly Project[]> {
  return loadAll(client, '/admin/projects', signal, { organization })
}

/** Whether requests with the keys of a project are accepted. */
export function ProjectBadge({ of: { enabled, deleted_at } }: { readonly of: Project }) {
  if (deleted_at !== null) return <Badge tone="bad">deleted</Badge>
  return <Badge tone={enabled ? 'good' : 'bad'}>{enabled ? 'active' : 'disabled'}</Badge>
}

/** Creates a project of an organization, or changes the name and the limits of the one that is edited. */
export function ProjectForm(
  props: DialogHandlers<Project> & { readonly organization: string; readonly edited?: Project },
) {
  const { organization, edited, ...handlers } = props
  const [text, setText] = useState(edited?.name ?? '')
  const limits = useLimitForm(edited)
  const name = text.trim()
  const fields = name === '' ? undefined : limits.fields && { name, ...limits.fields }
  return (
    <FormDialog<Project>
      title={edited ? `Edit ${visibleText(edited.name)}` : 'Create a project'}
      action={edited ? 'Save' : 'Create'}
      change={
        edited
          ? changeOf(projectPath(edited.id), edited, fields)
          : creationOf('/admin/projects', fields && { organization, ...fields })
      }
      {...handlers}
    >
      <TextField label="Name" placeholder="search" value={text} onInput={setText} />
      <LimitFields form={limits} empty="No limit" />
    </FormDialog>
  )
}

/** Deletes a project. */
export function DeleteProject({ project, ...handlers }: { readonly project: Project } & DialogHandlers) {
  return (
    <FormDialog
      title={`Delete ${visibleText(project.name)}`}
      action="Delete"
      kind="danger"
      change={{ method: 'DELETE', path: projectPath(project.id) }}
      {...handlers}
    >
      <p>
        Requests with its API keys are rejected at once. Its usage stays in the reports. This cannot be
        undone.
      </p>
    </FormDialog>
  )
}
