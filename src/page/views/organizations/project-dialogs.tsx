import { useState } from 'preact/hooks'
import { FormDialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/field.tsx'
import { visibleText } from '../../components/format.ts'
import { useAdminApi } from '../../session.tsx'
import { LimitFields, type LimitForm, useLimitForm } from './limit-fields.tsx'
import { sendChange } from './limits.ts'
import { type Project, projectPath } from './project.ts'

type DialogProps = {
  readonly project: Project
  readonly onClose: () => void
  /** Called after the change. */
  readonly onChanged: () => void
}

/** Creates a project of an organization. */
export function CreateProject(props: {
  readonly organization: string
  readonly onClose: () => void
  readonly onCreated: (created: Project) => void
}) {
  const { organization, onClose, onCreated } = props
  const admin = useAdminApi()
  const form = useProjectForm()
  const create = async () =>
    onCreated(await admin.send<Project>('POST', '/admin/projects', { organization, ...form.fields }))
  return (
    <FormDialog
      title="Create a project"
      action="Create"
      ready={form.fields !== undefined}
      onClose={onClose}
      onSubmit={create}
    >
      <ProjectFields form={form} />
    </FormDialog>
  )
}

/** Changes the name and the limits of a project. */
export function EditProject({ project, onClose, onChanged }: DialogProps) {
  const admin = useAdminApi()
  const form = useProjectForm(project)
  const save = async () => {
    await sendChange(admin, projectPath(project.id), project, form.fields)
    onChanged()
    onClose()
  }
  return (
    <FormDialog
      title={`Edit ${visibleText(project.name)}`}
      action="Save"
      ready={form.fields !== undefined}
      onClose={onClose}
      onSubmit={save}
    >
      <ProjectFields form={form} />
    </FormDialog>
  )
}

/** Deletes a project. */
export function DeleteProject({ project, onClose, onChanged }: DialogProps) {
  const admin = useAdminApi()
  const remove = async () => {
    await admin.send('DELETE', projectPath(project.id))
    onChanged()
  }
  return (
    <FormDialog
      title={`Delete ${visibleText(project.name)}`}
      action="Delete"
      kind="danger"
      onClose={onClose}
      onSubmit={remove}
    >
      <p>
        Requests with its API keys are rejected at once. Its usage stays in the reports. This cannot be
        undone.
      </p>
    </FormDialog>
  )
}

type ProjectForm = {
  readonly name: string
  readonly setName: (name: string) => void
  readonly limits: LimitForm
  /** The fields of a request; undefined if one is invalid. */
  readonly fields: object | undefined
}

function useProjectForm(edited?: Project): ProjectForm {
  const [name, setName] = useState(edited?.name ?? '')
  const limits = useLimitForm(edited)
  const valid = name.trim() !== ''
  return {
    name,
    setName,
    limits,
    fields: valid ? limits.fields && { name: name.trim(), ...limits.fields } : undefined,
  }
}

function ProjectFields({ form }: { readonly form: ProjectForm }) {
  return (
    <>
      <TextField label="Name" placeholder="search" value={form.name} onInput={form.setName} />
      <LimitFields form={form.limits} empty="No limit" />
    </>
  )
}
