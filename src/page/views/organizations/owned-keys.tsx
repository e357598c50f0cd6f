import { useResource } from '../../api/resource.ts'
import { Button } from '../../components/button.tsx'
import { Loaded } from '../../components/view.tsx'
import { useAdminApi } from '../../session.tsx'
import { type KeyOwner, loadKeys } from './key.ts'
import { useKeyDialogs } from './key-dialogs.tsx'
import { KeyTable } from './key-table.tsx'

/** The keys of an organization, or of one of its projects. */
export function OwnedKeys({ organization, project }: KeyOwner & { readonly organization: string }) {
  const admin = useAdminApi()
  const keys = useResource(
    (signal) => loadKeys(admin, signal, { organization, project }),
    [admin, organization, project],
  )
  const dialogs = useKeyDialogs({
    organizations: [organization],
    initial: { organization, project },
    onChanged: keys.reload,
  })
  const owner = project === undefined ? 'organization' : 'project'
  return (
    <section class="stack" aria-label={`Keys of the ${owner}`}>
      <div class="section-header">
        <h2>API keys</h2>
        <Button label="Create a key" icon="plus" onClick={dialogs.create} />
      </div>
      <Loaded resource={keys} lines={4}>
        {(loaded) => (
          <KeyTable
            keys={loaded}
            scope={owner}
            actions={dialogs}
            empty={<p class="quiet">The {owner} has no API key yet.</p>}
          />
        )}
      </Loaded>
      {dialogs.element}
    </section>
  )
}
