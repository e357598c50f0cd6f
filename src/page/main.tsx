import { render } from 'preact'
import { App } from './app.tsx'
import { loadKeys, takeKeyFromAddress } from './session/keys.ts'
import { applyTheme, loadTheme } from './theme/theme.ts'

const linkKey = takeKeyFromAddress()
applyTheme(loadTheme())
const place = document.getElementById('app')
if (place !== null) render(<App storedKeys={loadKeys()} linkKey={linkKey} />, place)
