import { render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ToastProvider } from './components/toast.tsx'
import { SessionProvider, takeKeysFromAddress, useSession } from './session.tsx'
import { Shell } from './shell.tsx'
import { ShortcutProvider } from './shortcuts.tsx'
import { SignIn } from './sign-in.tsx'
import { applyTheme, loadTheme } from './theme.ts'

const initialLinkKeys = takeKeysFromAddress()
applyTheme(loadTheme())
const place = document.getElementById('app')
if (place !== null) render(<App />, place)

function App() {
  return (
    <SessionProvider>
      <ToastProvider>
        <ShortcutProvider>
          <Entrance />
        </ShortcutProvider>
      </ToastProvider>
    </SessionProvider>
  )
}

/** A field for a key, or the views that the keys of the tab allow. */
function Entrance() {
  const { keys } = useSession()
  const [linkKeys, setLinkKeys] = useState(initialLinkKeys)
  useEffect(() => {
    // A link with a key that is opened in this tab changes only the fragment.
    const follow = () => setLinkKeys((current) => takeKeysFromAddress() ?? current)
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  if (linkKeys !== undefined)
    return <SignIn key={linkKeys.join()} linkKeys={linkKeys} onDone={() => setLinkKeys(undefined)} />
  if (keys.apiKey === undefined && keys.adminKey === undefined) return <SignIn />
  return <Shell />
}
