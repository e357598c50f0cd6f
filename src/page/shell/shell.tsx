import { useEffect, useRef, useState } from 'preact/hooks'
import { ViewHeader } from '../components/view-header.tsx'
import { ShortcutDialog } from '../keyboard/shortcut-dialog.tsx'
import { useShortcut } from '../keyboard/shortcuts.tsx'
import { type PageRoute, routeHash, useRoute } from '../routing/route.ts'
import { useSession } from '../session/session.tsx'
import type { View } from '../views/view.ts'
import { isAllowed, views } from '../views/views.ts'
import { ErrorBoundary } from './error-boundary.tsx'
import { KeysDialog } from './keys-dialog.tsx'
import { Navigation } from './navigation.tsx'
import { KeyForm } from './sign-in.tsx'

type OpenDialog = 'shortcuts' | 'keys' | undefined

/** The frame of the page: navigation, and the view that the address names. */
export function Shell() {
  const { keys } = useSession()
  const route = useRoute()
  const [dialog, setDialog] = useState<OpenDialog>()
  const view = route.view === '' ? views.find((one) => isAllowed(one, keys)) : findView(route.view)
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
      {dialog === 'shortcuts' && <ShortcutDialog onClose={() => setDialog(undefined)} />}
      {dialog === 'keys' && <KeysDialog onClose={() => setDialog(undefined)} />}
    </div>
  )
}

function CurrentView({ view, route }: { readonly view: View | undefined; readonly route: PageRoute }) {
  const { keys } = useSession()
  const title = view?.title ?? 'Not found'
  useTitle(title)
  if (view === undefined)
    return (
      <>
        <ViewHeader title="There is no such view" />
        <a href={routeHash('')}>Go to the start</a>
      </>
    )
  if (!isAllowed(view, keys)) return <MissingKey view={view} />
  const Content = view.component
  return <Content key={view.id} path={route.path} query={route.query} />
}

function MissingKey({ view }: { readonly view: View }) {
  const kind =
    view.needs === 'adminKey' ? 'the admin key, the value of WEIR_ADMIN_KEY' : 'an API key of an organization'
  return (
    <>
      <ViewHeader title={view.title} />
      <div class="state">
        <p>This view needs {kind}.</p>
        <KeyForm />
      </div>
    </>
  )
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

function findView(id: string): View | undefined {
  return views.find((view) => view.id === id)
}
