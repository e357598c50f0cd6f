import { useState } from 'preact/hooks'
import type { ApiKey, NewApiKey, Organization } from '../../api/objects.ts'
import type { ListPage } from '../../api/pages.ts'
import { useResource } from '../../api/resource.ts'
import { type DialogHandlers, FormDialog } from '../../components/dialog.tsx'
import { Checkbox, SelectField, TextArea, TextField } from '../../components/field.tsx'
import { formatTime, visibleText } from '../../components/format.ts'
import { useAdminApi } from '../../session.tsx'
import { expiryFields, type ExpiryDraft, ExpiryFields, newExpiry } from './expiry-fields.tsx'
import { type KeyOwner, type KeyPermission, keyPath } from './key.ts'
import { LimitFields, useLimitForm } from './limit-fields.tsx'
import { changeOf, creationOf } from './limits.ts'
import { OrganizationField } from './organization-field.tsx'
import { loadProjects } from './project.tsx'

/** Creates a key of this owner if it is `fixed`, else of any organization: of the oldest one by default. */
export function CreateKey(
  props: DialogHandlers<NewApiKey> & { readonly owner?: KeyOwner; readonly fixed?: boolean },
) {
  const { owner = {}, fixed = false, onClose, onDone } = props
  const [chosen, setOrganization] = useState(owner.organization)
  const oldest = useOldestOrganization()
  const organization = chosen ?? oldest ?? ''
  const form = useKeyForm(undefined, owner.project)
  const fields = form.fields && { organization, ...form.fields, name: form.fields.name || undefined }
  return (
    <FormDialog<NewApiKey>
      title={fixed ? `Create an API key of ${visibleText(organization)}` : 'Create an API key'}
      action="Create"
      change={organization === '' ? undefined : creationOf('/admin/keys', fields)}
      onClose={onClose}
      onDone={onDone}
    >
      {!fixed && (
        <OrganizationField
          value={organization}
          onChange={(selected) => {
            setOrganization(selected)
            form.set({ project: '' })
          }}
        />
      )}
      <KeyFields form={form} organization={organization} />
    </FormDialog>
  )
}

/** The name of the organization that was created first. */
function useOldestOrganization(): string | undefined {
  const admin = useAdminApi()
  const path = '/admin/organizations'
  const { value } = useResource(
    (signal) => admin.get<ListPage<Organization>>(path, { query: { limit: 1 }, signal }),
    [admin],
  )
  return value?.data[0]?.name
}

/** Changes the limits and the other properties of a key. */
export function EditKey({ of: key, ...handlers }: { readonly of: ApiKey } & DialogHandlers) {
  const form = useKeyForm(key)
  return (
    <FormDialog
      title={`Edit ${visibleText(key.name)}`}
      action="Save"
      change={changeOf(keyPath(key.id), { ...key, ...form.untouched }, form.fields)}
      {...handlers}
    >
      <KeyFields form={form} organization={key.organization ?? ''} />
    </FormDialog>
  )
}

type KeyDraft = {
  readonly name: string
  /** The ID of a project; empty for none. */
  readonly project: string
  readonly expiry: ExpiryDraft
  /** Separated by commas. */
  readonly tags: string
  readonly note: string
  readonly permissions: readonly KeyPermission[]
  readonly contentLog: boolean
}

/** The fields of a new key, or of one that is edited. */
function useKeyForm(edited?: ApiKey, project = '') {
  const limits = useLimitForm(edited)
  const [initial] = useState(() => toKeyDraft(edited, project))
  const [draft, setDraft] = useState(initial)
  const expiry = expiryFields(draft.expiry)
  return {
    draft,
    limits,
    /** When the key expires now, as text; undefined for a new key. */
    expiresNow: edited && (edited.expires_at === null ? 'never' : formatTime(edited.expires_at)),
    set: (changed: Partial<KeyDraft>) => setDraft((current) => ({ ...current, ...changed })),
    /** The fields of a request; undefined if one is invalid. */
    fields: limits.fields && expiry && { ...toKeyFields(draft), ...expiry, ...limits.fields },
    /** What the draft would send before it is changed: a form cannot hold each name, tag and note as it is. */
    untouched: toKeyFields(initial),
  }
}

function toKeyDraft(edited: ApiKey | undefined, project: string): KeyDraft {
  return {
    name: edited?.name ?? '',
    project: edited?.project?.id ?? project,
    expiry: edited === undefined ? newExpiry : { choice: 'keep', at: '' },
    tags: edited?.tags.join(', ') ?? '',
    note: edited?.note ?? '',
    permissions: edited?.permissions ?? [],
    contentLog: edited?.content_log ?? false,
  }
}

function toKeyFields({ name, project, tags, note, permissions, contentLog }: KeyDraft) {
  return {
    name: name.trim(),
    project: project || null,
    tags: tags
      .split(',')
      .map((tag) => tag.trim())
      .filter(Boolean),
    note: note.trim() || null,
    permissions,
    content_log: contentLog,
  }
}

type KeyForm = ReturnType<typeof useKeyForm>

function KeyFields({ form, organization }: { readonly form: KeyForm; readonly organization: string }) {
  const { draft, set } = form
  return (
    <>
      <TextField label="Name" placeholder="laptop" value={draft.name} onInput={(name) => set({ name })} />
      <ProjectField
        organization={organization}
        value={draft.project}
        onChange={(project) => set({ project })}
      />
      <ExpiryFields draft={draft.expiry} now={form.expiresNow} onChange={(expiry) => set({ expiry })} />
      <LimitFields form={form.limits} empty="No limit" />
      <TextField
        label="Tags"
        placeholder="ci, nightly"
        value={draft.tags}
        onInput={(tags) => set({ tags })}
        hint="Separated by commas."
      />
      <TextArea label="Note" value={draft.note} onInput={(note) => set({ note })} />
      <PermissionFields permissions={draft.permissions} onChange={(permissions) => set({ permissions })} />
      <Checkbox
        label="Content log: keep what its requests ask, and what is answered"
        checked={draft.contentLog}
        onChange={(contentLog) => set({ contentLog })}
      />
    </>
  )
}

/** The project of a key, of those of its organization. */
function ProjectField(props: {
  readonly organization: string
  readonly value: string
  readonly onChange: (project: string) => void
}) {
  const { organization, value, onChange } = props
  const admin = useAdminApi()
  const { value: projects = [] } = useResource(
    async (signal) => (organization === '' ? [] : loadProjects(admin, organization, signal)),
    [admin, organization],
  )
  const options = projects.map(({ id, name }) => ({ value: id, label: visibleText(name) }))
  const known = value === '' || options.some((option) => option.value === value)
  return (
    <SelectField
      label="Project"
      value={value}
      options={[{ value: '', label: 'None' }, ...options, ...(known ? [] : [{ value, label: value }])]}
      onChange={onChange}
    />
  )
}

const permissionLabels: Readonly<Record<KeyPermission, string>> = {
  admin: 'admin: manages the projects, keys and limits of its organization',
  mint: 'mint: creates API keys out of its own budget',
}
const permissionNames = Object.keys(permissionLabels) as readonly KeyPermission[]

function PermissionFields(props: {
  readonly permissions: readonly KeyPermission[]
  readonly onChange: (permissions: readonly KeyPermission[]) => void
}) {
  const { permissions, onChange } = props
  return (
    <fieldset class="checkboxes">
      <legend>Permissions</legend>
      {permissionNames.map((name) => (
        <Checkbox
          key={name}
          label={permissionLabels[name]}
          checked={permissions.includes(name)}
          onChange={(checked) =>
            onChange(
              permissionNames.filter((other) => (other === name ? checked : permissions.includes(other))),
            )
          }
        />
      ))}
    </fieldset>
  )
}
