import { useEffect, useState } from 'preact/hooks'

/** The chosen theme; `auto` follows the system. */
export type Theme = 'auto' | 'light' | 'dark'

const storageKey = 'weir.theme'
/** Dispatched on `window` when the colors change. */
const changeEvent = 'weir-theme'

/** The theme of this tab. */
export function loadTheme(): Theme {
  const stored = sessionStorage.getItem(storageKey)
  return stored === 'light' || stored === 'dark' ? stored : 'auto'
}

/** Applies a theme and keeps it for this tab. */
export function applyTheme(theme: Theme): void {
  if (theme === 'auto') sessionStorage.removeItem(storageKey)
  else sessionStorage.setItem(storageKey, theme)
  document.documentElement.dataset.theme = theme
  dispatchEvent(new Event(changeEvent))
}

/** Counts the changes of the colors, for what has to be drawn again. */
export function useThemeVersion(): number {
  const [version, setVersion] = useState(0)
  useEffect(() => {
    const changed = () => setVersion((count) => count + 1)
    const system = matchMedia('(prefers-color-scheme: dark)')
    system.addEventListener('change', changed)
    addEventListener(changeEvent, changed)
    return () => {
      system.removeEventListener('change', changed)
      removeEventListener(changeEvent, changed)
    }
  }, [])
  return version
}

/** The color that a custom property has now, in a form that a canvas understands. */
export function colorOf(property: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${property})`
  document.body.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}
