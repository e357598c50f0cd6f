import { Component, type ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { toFailure } from './api/failure.ts'
import { readOnlyReason } from './change-button.tsx'
import { Button } from './components/button.tsx'
import { Dialog } from './components/dialog.tsx'
import { Badge, Badges } from './components/facts.tsx'
import { Failure, ViewHeader } from './components/view.tsx'
import { Navigation } from './navigation.tsx'
import { type PageRoute, routeHash, useRoute } from './route.ts'
import { useSession } from './session.tsx'
import { useShortcut, useShortcutList } from './shortcuts.tsx'
import { AdminKeyHelp, KeyForm } from './sign-in.tsx'
import { isAllowed, type View, views } from './views.ts'

/** The frame of the page: navigation, and the view that the address names. */
export function Shell() {
  const { keys } = useSession()
  const route = useRoute()
  const [dialog, setDialog] = useState<'shortcuts' | 'keys'>()
  const close = () => setDialog(undefined)
  const view = views.find((one) => (route.view === '' ? isAllowed(one, keys) : one.id === route.view))
  useShortcut('?', 'Show the shortcuts', () => setDialog('shortcuts'))
  return (
    <div class="shell">
      <a
        class="skip-link"
        href="#main"
        onClick={(event) => {
          // The fragment is the address of the view.
          event.preventDefault()
          document.getElementById('main')?.focus()
        }}
      >
        Skip to the content
      </a>
      <Navigation
        current={view?.id}
        onShortcuts={() => setDialog('shortcuts')}
        onKeys={() => setDialog('keys')}
      />
      <main id="main" tabIndex={-1}>
        <ErrorBoundary key={route.view}>
          <CurrentView view={view} route={route} />
        </ErrorBoundary>
      </main>
      {dialog === 'shortcuts' && <ShortcutDialog onClose={close} />}
      {dialog === 'keys' && <KeysDialog onClose={close} />}
    </div>
  )
}

type BoundaryState = { readonly error?: unknown }

/** Shows an error of a view in its place; the navigation stays usable. */
class ErrorBoundary extends Component<{ readonly children: ComponentChildren }, BoundaryState> {
  override state: BoundaryState = {}

  static override getDerivedStateFromError(error: unknown) {
    return { error }
  }

  override render() {
    if (this.state.error === undefined) return this.props.children
    return <Failure failure={toFailure(this.state.error)} retry={() => this.setState({ error: undefined })} />
  }
}

function CurrentView({ view, route }: { readonly view: View | undefined; readonly route: PageRoute }) {
  const { keys } = useSession()
  useTitle(view?.title ?? 'Not found')
  if (view === undefined)
    return (
      <>
        <ViewHeader title="There is no such view" />
        <a href={routeHash('')}>Go to the start</a>
      </>
    )
  if (!isAllowed(view, keys)) return <MissingKey view={view} />
  return <view.component key={view.id} {...route} />
}

/** Names the tab, and after a change of the view moves the focus to it, so that a screen reader announces it. */
function useTitle(title: string): void {
  const isFirst = useRef(true)
  useEffect(() => {
    document.title = `${title} · Weir`
    if (!isFirst.current) document.getElementById('main')?.focus()
    isFirst.current = false
  }, [title])
}

function MissingKey({ view }: { readonly view: View }) {
  const isOperators = view.needs === 'adminKey'
  return (
    <>
      <ViewHeader title={view.title} />
      <div class="state">
        <p>This view needs {isOperators ? 'an admin key' : 'an API key of an organization'}.</p>
        <KeyForm />
        {isOperators && <AdminKeyHelp />}
      </div>
    </>
  )
}

/** The list of the shortcuts of what is shown now. */
function ShortcutDialog({ onClose }: { readonly onClose: () => void }) {
  const shortcuts = useShortcutList()
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl class="shortcuts">
        {shortcuts.map(({ keys, label }) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}

/** Shows which keys the tab has, adds one, and forgets them. */
function KeysDialog({ onClose }: { readonly onClose: () => void }) {
  const { keys, may, signOut } = useSession()
  return (
    <Dialog
      title="Keys of this tab"
      onClose={onClose}
      actions={<Button label="Forget the keys" icon="signOut" kind="danger" onClick={signOut} />}
    >
      <ul class="key-list">
        <KeyLine label="API key" value={keys.apiKey} />
        <KeyLine label="Admin key" value={keys.adminKey} />
        {keys.permissions && (
          <li>
            <span>Its permissions</span>
            <Badges texts={keys.permissions} />
          </li>
        )}
      </ul>
      <KeyForm onDone={onClose} />
      {!may('write') && (
        <section class="quiet key-help">
          {keys.adminKey === undefined ? <AdminKeyHelp /> : <p>{readOnlyReason}</p>}
        </section>
      )}
    </Dialog>
  )
}

/** A key is recognized by its start; the rest is secret. */
function KeyLine({ label, value }: { readonly label: string; readonly value: string | undefined }) {
  const [start = ''] = /^sk-weir-(admin-)?\w+-(?=\w)/.exec(value ?? '') ?? []
  return (
    <li>
      <span>{label}</span>
      {value === undefined ? <Badge>not set</Badge> : <code>{`${start}••••`}</code>}
    </li>
  )
}
