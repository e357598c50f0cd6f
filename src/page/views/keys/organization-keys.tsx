import { useResource } from '../../api/use-resource.ts'
import { Button } from '../../components/button.tsx'
import { Loaded } from '../../components/states.tsx'
import { useAdminApi } from '../../session/session.tsx'
import { loadKeys } from './api-key.ts'
import { KeyTable, useKeyDialogs } from './key-table.tsx'

/** The keys of one organization, below its account. */
export function OrganizationKeys({ organization }: { readonly organization: string }) {
  const admin = useAdminApi()
  const keys = useResource((signal) => loadKeys(admin, signal), [admin])
  const dialogs = useKeyDialogs({ organizations: [organization], onChanged: keys.reload })
  return (
    <section class="stack" aria-label="Keys of the organization">
      <div class="section-header">
        <h2>API keys</h2>
        <Button label="Create a key" icon="plus" onClick={dialogs.create} />
      </div>
      <Loaded resource={keys} lines={4}>
        {(all) => (
          <KeyTable
            keys={all.filter((key) => key.organization === organization)}
            everyone={false}
            dialogs={dialogs}
            empty={<p class="quiet">The organization has no API key yet.</p>}
          />
        )}
      </Loaded>
      {dialogs.element}
    </section>
  )
}
