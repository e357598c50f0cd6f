import { ChangeButton } from '../../change-button.tsx'
import { EmptyLine, Section } from '../../components/view.tsx'
import { type KeyOwner, useKeys } from './key.ts'
import { useKeyDialogs } from './key-dialogs.tsx'
import { KeyTable } from './key-table.tsx'

/** The keys of an organization, or of one of its projects. */
export function OwnedKeys({ organization, project }: KeyOwner & { readonly organization: string }) {
  const keys = useKeys({ organization, project })
  const dialogs = useKeyDialogs({ owner: { organization, project }, fixed: true, onChanged: keys.reload })
  const owner = project === undefined ? 'organization' : 'project'
  return (
    <Section
      title="API keys"
      label={`Keys of the ${owner}`}
      controls={<ChangeButton label="Create a key" icon="plus" onClick={dialogs.create} />}
    >
      <KeyTable
        keys={keys}
        scope={owner}
        actions={dialogs}
        empty={
          <EmptyLine text={`The ${owner} has no API key yet.`}>
            <ChangeButton label="Create the first key" icon="plus" onClick={dialogs.create} />
          </EmptyLine>
        }
      />
      {dialogs.element}
    </Section>
  )
}
