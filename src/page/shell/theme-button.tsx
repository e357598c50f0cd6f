import { useState } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { applyTheme, loadTheme, type Theme } from '../theme/theme.ts'

const next = { auto: 'dark', dark: 'light', light: 'auto' } as const satisfies Record<Theme, Theme>
const icons = { auto: 'auto', dark: 'moon', light: 'sun' } as const

/** Switches between the colors of the system, dark and light. */
export function ThemeButton() {
  const [theme, setTheme] = useState<Theme>(loadTheme)
  const change = () => {
    applyTheme(next[theme])
    setTheme(next[theme])
  }
  return <Button label={`Theme: ${theme}`} icon={icons[theme]} iconOnly onClick={change} />
}
