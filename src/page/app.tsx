import { useEffect, useState } from 'preact/hooks'
import { ToastProvider } from './components/toast.tsx'
import { ShortcutProvider } from './keyboard/shortcuts.tsx'
import type { Keys } from './session/keys.ts'
import { takeKeyFromAddress } from './session/keys.ts'
import { SessionProvider, useSession } from './session/session.tsx'
import { SignIn } from './shell/sign-in.tsx'
import { Shell } from './shell/shell.tsx'

/** The whole page: a field for a key, or the views that the keys of the tab allow. */
export function App(props: { readonly storedKeys: Keys; readonly linkKey: string | undefined }) {
  return (
    <SessionProvider initial={props.storedKeys}>
      <ToastProvider>
        <ShortcutProvider>
          <Entrance linkKey={props.linkKey} />
        </ShortcutProvider>
      </ToastProvider>
    </SessionProvider>
  )
}

function Entrance({ linkKey: initialLinkKey }: { readonly linkKey: string | undefined }) {
  const { keys } = useSession()
  const [linkKey, setLinkKey] = useState(initialLinkKey)
  useEffect(() => {
    // A link with a key that is opened in this tab changes only the fragment.
    const follow = () => setLinkKey((current) => takeKeyFromAddress() ?? current)
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  if (linkKey !== undefined)
    return <SignIn key={linkKey} linkKey={linkKey} onDone={() => setLinkKey(undefined)} />
  if (keys.apiKey === undefined && keys.adminKey === undefined) return <SignIn />
  return <Shell />
}
