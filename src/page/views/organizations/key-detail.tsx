import type { ApiKey } from '../../api/objects.ts'
import { useGet } from '../../api/resource.ts'
import { ChangeButton } from '../../change-button.tsx'
import { Badges, Facts, Foreign, IdLink, type LabelledFact, None, Time } from '../../components/facts.tsx'
import { visibleText } from '../../components/format.ts'
import { Loaded, ViewHeader } from '../../components/view.tsx'
import { routeHash } from '../../route.ts'
import { useAdminApi } from '../../session.tsx'
import { hasEnded, keyPath, stateOf } from './key.ts'
import { useKeyDialogs } from './key-dialogs.tsx'
import { KeyBadge, OrganizationLink, ProjectLink, shownKey } from './key-table.tsx'
import { LimitsSection } from './limits-view.tsx'

/** One API key: its limits, what is left of its budget, and its properties. */
export function KeyDetail({ id }: { readonly id: string }) {
  const key = useGet<ApiKey>(useAdminApi(), keyPath(id))
  const dialogs = useKeyDialogs({ onChanged: key.reload })
  const { value } = key
  const ended = value === undefined || hasEnded(value)
  const open = (dialog: (of: ApiKey) => void) => () => value && dialog(value)
  return (
    <>
      <ViewHeader
        title={visibleText(value?.name ?? id)}
        back={{ href: routeHash('keys'), label: '← All API keys' }}
      >
        <ChangeButton label="Edit" disabled={ended} onClick={open(dialogs.onEdit)} />
        <ChangeButton
          label="Rotate"
          disabled={ended || stateOf(value) !== 'active'}
          onClick={open(dialogs.onRotate)}
        />
        <ChangeButton label="Revoke" kind="danger" disabled={ended} onClick={open(dialogs.onRevoke)} />
      </ViewHeader>
      <Loaded resource={key} lines={10}>
        {(loaded) => (
          <div class="stack wide">
            <section class="stack" aria-label="Key">
              <Facts facts={factsOf(loaded)} />
              {loaded.note !== null && (
                <p class="plain-text">
                  <Foreign text={loaded.note} />
                </p>
              )}
            </section>
            <LimitsSection of={loaded} path={keyPath(id)} empty="no limit" onChanged={key.reload} />
          </div>
        )}
      </Loaded>
      {dialogs.element}
    </>
  )
}

function factsOf(key: ApiKey): readonly LabelledFact[] {
  const { parent, replaced_by, expires_at, permissions, tags } = key
  return [
    ['State', <KeyBadge of={key} />],
    ['Key', shownKey(key)],
    ['Organization', <OrganizationLink of={key} />],
    ['Project', <ProjectLink of={key} />],
    ['Created', <Time at={key.created_at} />],
    ['Expires', expires_at === null ? <None text="never" /> : <Time at={expires_at} />],
    ['Permissions', <Badges texts={permissions} />],
    ['Tags', <Badges texts={tags} />],
    ['Content log', key.content_log ? 'on: the content of requests is kept' : 'off'],
    parent !== null && ['Created by the key', <IdLink id={parent} href={routeHash('keys', [parent])} />],
    replaced_by !== null && [
      'Replaced by',
      <IdLink id={replaced_by} href={routeHash('keys', [replaced_by])} />,
    ],
  ]
}
