import { useState } from 'preact/hooks'
import type { Organization } from '../../api/objects.ts'
import type { ListPage } from '../../api/pages.ts'
import { useResource } from '../../api/resource.ts'
import { Combobox } from '../../components/combobox.tsx'
import { useAdminApi } from '../../session.tsx'

/** Organizations that are offered at once; the gateway searches the others. */
const maxOffered = 50

/** A field for the name of an organization, which the gateway searches as one types. */
export function OrganizationField(props: {
  readonly value: string
  readonly placeholder?: string
  /** Whether the field may be emptied. */
  readonly optional?: boolean
  readonly onChange: (name: string) => void
}) {
  const admin = useAdminApi()
  const [typed, setTyped] = useState('')
  const { value: found = [] } = useResource(
    async (signal) => {
      const query = { limit: maxOffered, search: typed.trim() || undefined }
      return (await admin.get<ListPage<Organization>>('/admin/organizations', { query, signal })).data
    },
    [admin, typed],
  )
  return (
    <Combobox
      label="Organization"
      {...props}
      options={found.map(({ name }) => ({ value: name }))}
      onType={setTyped}
    />
  )
}
